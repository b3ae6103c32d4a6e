import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LogsRequest } from '@yardmaster/cli';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, infos, logs, logsHere, numbered, printed } from './logs.js';
import { endAll } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

async function jobWith(entries: unknown[]): Promise<string> {
  const { id } = await createJob(service, 'filters');
  await append(service, id, entries);
  return id;
}

async function found(id: string, fields: Partial<LogsRequest>): Promise<string[]> {
  const { messages, ...rest } = await logsHere(service, id, fields);
  expect(rest).toEqual({ code: 0, sentence: null, err: '' });
  return messages;
}

it.each([
  [['warn'], ['warn  m']],
  [
    ['error', 'info'],
    ['info  m', 'error m'],
  ],
  [
    ['fatal', 'trace', 'debug', 'fatal'],
    ['trace m', 'debug m', 'fatal m'],
  ],
] as [LogsRequest['levels'], string[]][])('prints entries of the levels %j and no others', async (levels, lines) => {
  const entries = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => ({ level, message: 'm' }));
  expect(await found(await jobWith(entries), { levels })).toEqual(lines);
});

describe('--grep', () => {
  const MESSAGES = [
    'Disk full on /var',
    'full disk',
    'say "disk full" now',
    'disk  full',
    'cost: $5.00 (a+b)*',
    'cost: $5x00 aab',
    'Größe ΣΊΣΥΦΟΣ',
    'C:\\temp',
    '100%, a&b=c#d',
  ];
  let id: string;
  beforeAll(async () => {
    id = await jobWith(MESSAGES);
  });

  it.each([
    ['a phrase, not its words apart', 'disk full', [0, 2]],
    ['in whatever case', 'DISK FULL', [0, 2]],
    ['beyond ASCII too', 'grösse σίσυφος', [6]],
    ['a part of a word', 'ull', [0, 1, 2, 3]],
    ['a phrase with a quote', 'say "disk', [2]],
    ['a phrase that ends with a quote', 'full"', [2]],
    ['a quote alone', '"', [2]],
    ['no words that stand on other sides of a quote', 'disk" full', []],
    ['blanks at its ends', ' full ', [0]],
    ['two blanks alone', '  ', [3]],
    ['no pattern, but its characters', '5.00 (a+b)*', [4]],
    ['a backslash', 'c:\\T', [7]],
    ['what has a meaning in an address', '%, a&b=c#d', [8]],
    ['nothing that is not there', 'absent', []],
  ])('finds %s', async (_, grep, places) => {
    expect(await found(id, { grep })).toEqual(infos(MESSAGES.filter((_message, i) => places.includes(i))));
  });

  it('looks at messages only', async () => {
    const job = await jobWith([{ message: 'a', source: 'needle', metadata: { needle: 'needle' } }, 'needle']);
    expect(await found(job, { grep: 'needle' })).toEqual(['info  needle']);
  });

  it('finds a text that is longer, and has more quotes, than a query may', async () => {
    const long = `${'é🚂"'.repeat(200)}end`;
    const job = await jobWith([long, long.slice(0, -1)]);
    const run = logs(service, [job, '--grep', long]);
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    expect(printed(run)).toEqual([`info  ${long}`]);
  });
});

describe('filters over many pages', () => {
  /** Every tenth is a warning, every hundredth says so. */
  const entries = numbered(1_000).map((text, i) => {
    const message = (i + 1) % 100 === 0 ? `${text}, "round" number` : text;
    return { level: (i + 1) % 10 === 0 ? 'warn' : 'info', message };
  });
  const rounds = [...Array(10).keys()].map((i) => `warn  entry ${i + 1}00, "round" number`);
  const warnings: Partial<LogsRequest> = { levels: ['warn', 'error'], grep: 'ROUND" n' };
  let id: string;
  beforeAll(async () => {
    id = await jobWith(entries);
    await append(service, id, entries);
  });

  it('let through what all of them let through', async () => {
    const run = logs(service, [id, '--level', 'warn', '--level', 'error', '--grep', 'ROUND" n']);
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    expect(printed(run)).toEqual([...rounds, ...rounds]);
    expect(await found(id, { ...warnings, levels: ['info'] })).toEqual([]);
  });

  it.each([1, 10, 13, 20, 600])('leave --tail %i of what they let through', async (tail) => {
    expect(await found(id, { ...warnings, tail })).toEqual([...rounds, ...rounds].slice(-tail));
  });

  it('leave --tail more than a page', async () => {
    const all = infos(entries.filter(({ level }) => level === 'info').map(({ message }) => message));
    expect(await found(id, { levels: ['info'], tail: 700 })).toEqual([...all, ...all].slice(-700));
  });

  it('leave --tail older ones where newer ones hold the words, but not the phrase', async () => {
    const job = await jobWith(['disk "full" 1', 'disk "full" 2', 'full "disk', '" disk full']);
    expect(await found(job, { grep: 'disk "full', tail: 1 })).toEqual(['info  disk "full" 2']);
  });
});
