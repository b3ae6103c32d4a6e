import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, entriesOf, infos, logs, logsHere, numbered, printed } from './logs.js';
import { endAll } from './yardmaster.js';

let service: TestService;
/** Has 1 200 entries: three pages. */
let many: string;
beforeAll(async () => {
  service = await startService();
  many = (await createJob(service, 'pages')).id;
  await append(service, many, numbered(1_000));
  await append(service, many, numbered(200, 1_001));
});
afterEach(endAll);
afterAll(() => service.stop());

describe('more entries than a page holds', () => {
  it('are printed all, oldest first', async () => {
    const run = logs(service, [many]);
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    expect(printed(run)).toEqual(infos(numbered(1_200)));
  });

  it('are printed all with --json', async () => {
    const run = logs(service, [many, '--json']);
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    expect(entriesOf(run).map(({ seq, message }) => [seq, message])).toEqual(
      numbered(1_200).map((message, i) => [i + 1, message]),
    );
  });

  it.each([
    ['none', 0],
    ['one', 1],
    ['less than a page', 120],
    ['a page', 500],
    ['a page and one', 501],
    ['more than two pages', 1_150],
    ['all', 1_200],
    ['more than there are', 5_000],
  ])('are printed from the newest with --tail: %s', async (_, tail) => {
    const { messages, err } = await logsHere(service, many, { tail });
    expect([messages, err]).toEqual([infos(numbered(1_200).slice(Math.max(0, 1_200 - tail))), '']);
  });

  it('are each as large as may be, so that a page is as large as an answer may be', async () => {
    const { id } = await createJob(service, 'pages');
    const message = 'x'.repeat(16_000);
    const large = numbered(540).map((text) => `${text} ${message}`);
    for (let i = 0; i < 540; i += 60) await append(service, id, large.slice(i, i + 60));
    expect((await logsHere(service, id)).messages).toEqual(infos(large));
    expect((await logsHere(service, id, { tail: 530 })).messages).toEqual(infos(large.slice(10)));
  });
});

it.each([0, 5, null])('prints nothing of a job without logs, with --tail %j', async (tail) => {
  const { id } = await createJob(service, 'pages');
  expect(await logsHere(service, id, { tail })).toEqual({ code: 0, sentence: null, err: '', messages: [] });
});
