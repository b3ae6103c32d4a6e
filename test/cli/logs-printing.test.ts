import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, entriesOf, logs, logsHere, printed } from './logs.js';
import { endAll } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

async function jobWith(entries: unknown[]): Promise<string> {
  const { id } = await createJob(service, 'printing');
  await append(service, id, entries);
  return id;
}

/** Print a job that has just these entries. */
async function print(entries: unknown[], ...flags: string[]) {
  const run = logs(service, [await jobWith(entries), ...flags]);
  expect([await run.exit(), run.err()]).toEqual([0, '']);
  return run;
}

describe('a plain line shows', () => {
  it.each([
    ['how grave it is and what', 'hello', 'info  hello'],
    ['a source that is not the worker itself', { message: 'm', source: 'disk' }, 'info  disk: m'],
    ['no source that is', { message: 'm', source: 'worker' }, 'info  m'],
    ['metadata', { message: 'm', metadata: { a: '/var', b: [92, null] } }, 'info  m {"a":"/var","b":[92,null]}'],
    ['no metadata where none is', { message: 'm', metadata: {} }, 'info  m'],
    ['both', { message: 'm', source: 's', metadata: { a: 1 } }, 'info  s: m {"a":1}'],
    ['an empty message', '', 'info'],
    ['an empty message with metadata', { message: '', metadata: { a: {} } }, 'info  {"a":{}}'],
    ['a message of many lines as one', 'Error: no\n  at a\r\n\tat b', 'info  Error: no   at a at b'],
    ['a long message, not cut', 'x'.repeat(10_000), `info  ${'x'.repeat(10_000)}`],
    ['words and emoji of all languages', 'Größe 日本語 👩‍👩‍👧', 'info  Größe 日本語 👩‍👩‍👧'],
  ])('%s', async (_, entry, line) => {
    expect(await logsHere(service, await jobWith([entry]))).toEqual({
      code: 0,
      sentence: null,
      err: '',
      messages: [line],
    });
  });
});

it('pads levels, so that messages stand in one column', async () => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];
  const run = await print(levels.map((level) => ({ message: 'm', level })));
  expect(printed(run)).toEqual(['trace m', 'debug m', 'info  m', 'warn  m', 'error m', 'fatal m']);
});

it('shows the time at which the worker says that it happened, in UTC', async () => {
  const run = await print([{ message: 'then', timestamp: '2026-01-31T10:30:01.768+01:00' }], '--plain');
  expect(run.out()).toBe('2026-01-31T09:30:01.768Z info  then\n');
});

it('prints with --json each entry as the API gives it, on a line', async () => {
  const metadata = JSON.parse('{"z":1,"a":[{}],"__proto__":{"x":null},"n":1.5e300}');
  const id = await jobWith(['one', { message: 'a\nb', level: 'fatal', source: 's', metadata }]);
  const run = logs(service, [id, '--json']);
  expect([await run.exit(), run.err()]).toEqual([0, '']);
  const { body } = await service.call('GET', `/jobs/${id}/logs`);
  expect(run.out()).toBe(body.logs.map((entry: unknown) => `${JSON.stringify(entry)}\n`).join(''));
  expect(entriesOf(run)).toHaveLength(2);
});

describe('entries that are written to harm a terminal', () => {
  // A colour, a title, the clipboard, CSI in one character, a carriage return, a backspace, a turned direction.
  const evil = '\u001b[31mred\u001b]0;owned\u0007\u001b]52;c;cm0=\u001b\\\u009b2J\rforged\b\u202egnp\u2028.\u0000';
  const shown = 'red forged\ufffdgnp .\ufffd';
  const entry = { message: `m ${evil}`, source: `s ${evil}`, metadata: { [`k ${evil}`]: [`v ${evil}`] } };
  const unsafe = /(?!\n)[\p{Cc}\p{Zl}\u202e]/u;

  it('lose in plain lines what is no text', async () => {
    const run = await print([entry, 'next']);
    expect(run.out()).not.toMatch(unsafe);
    expect(printed(run)).toEqual([expect.stringContaining(`info  s ${shown}: m ${shown} {"k `), 'info  next']);
  });

  it('are whole with --json, as escapes', async () => {
    const run = await print([entry, 'next'], '--json');
    expect(run.out()).not.toMatch(unsafe);
    expect(entriesOf(run)).toMatchObject([entry, { message: 'next' }]);
  });
});

it.each(['pending', 'completed', 'dead', 'killed'] as const)(
  'exits with 0 for a job that is %s, as it does not follow it',
  async (status) => {
    const id = await jobIn(service, status, `exits-${status}`);
    expect(await logsHere(service, id)).toEqual({ code: 0, sentence: null, err: '', messages: [] });
  },
);
