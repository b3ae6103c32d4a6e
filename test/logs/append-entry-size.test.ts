import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, appended, type Entry, FORMAT_NAMES, FORMATS, type Format, readLogs, written } from './entries.js';
import { expectRefused, tooLarge } from './refusals.js';

const LIMIT = 16_384;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'entry-size')).id;
const refusalOf = (format: Format, index: number) =>
  tooLarge(`${format === 'NDJSON' ? `line ${index + 1}` : `logs[${index}]`} must be at most ${LIMIT} bytes of JSON`);

const isTaken = async (entry: Entry) => (await append(service, await newJob(), { body: [entry] })).status === 200;

/** The most times a piece may be repeated: what is one longer is refused. */
async function mostOf(make: (times: number) => Entry): Promise<number> {
  let [fits, over] = [0, 2 * LIMIT];
  while (over - fits > 1) {
    const middle = Math.floor((fits + over) / 2);
    if (await isTaken(make(middle))) fits = middle;
    else over = middle;
  }
  return fits;
}

/** What an entry of 16 KB may be made of, and how many bytes of JSON each repetition is. */
const MEASURES: [what: string, bytes: number, make: (times: number) => Entry][] = [
  ['ASCII', 1, (times) => 'x'.repeat(times)],
  ['characters of 2 bytes', 2, (times) => 'é'.repeat(times)],
  ['characters of 3 bytes', 3, (times) => ({ message: '日'.repeat(times) })],
  ['astral characters', 4, (times) => ({ message: '🚂'.repeat(times) })],
  ['quotes, which JSON escapes', 2, (times) => '"'.repeat(times)],
  ['control characters', 6, (times) => '\x01'.repeat(times)],
  ['lone surrogates', 6, (times) => '\ud800'.repeat(times)],
  ['a source', 1, (times) => ({ message: '', source: 'x'.repeat(times) })],
  ['metadata', 2, (times) => ({ message: '', metadata: { a: Array(times).fill(1) } })],
  ['keys of metadata', 3, (times) => ({ message: '', metadata: { ['日'.repeat(times)]: 1 } })],
];

describe('an entry', () => {
  it.each(MEASURES)('of %s may be 16 KB of JSON, and no more', async (_, bytes, make) => {
    const most = await mostOf(make);
    // What is not repeated, such as the time of storage, is some bytes as well.
    expect(most * bytes).toBeGreaterThan(LIMIT - 100);
    expect(most * bytes).toBeLessThanOrEqual(LIMIT);

    for (const format of FORMAT_NAMES) {
      const id = await newJob();
      expect(await append(service, id, written(format, ['before', make(most), 'after']))).toMatchObject(appended(3));
      expect((await readLogs(service, id))[1]).toMatchObject(
        typeof make(1) === 'string' ? { message: make(most) } : (make(most) as object),
      );
      for (const index of [0, 1, 2]) {
        const entries = ['a', 'b', 'c'].map((entry, n) => (n === index ? make(most + 1) : entry));
        await expectRefused(service, written(format, entries), refusalOf(format, index));
      }
    }
  });

  it('is measured with all that is kept of it', async () => {
    const part = 'x'.repeat(5_400);
    const metadata = { part };
    expect(await isTaken({ message: part, source: part, metadata })).toBe(true);
    expect(await isTaken({ message: `${part}${part}`, source: part })).toBe(true);
    expect(await isTaken({ message: `${part}${part}`, source: part, metadata })).toBe(false);
    expect(await isTaken({ message: part, source: part, metadata: { part, more: part } })).toBe(false);
  });

  const SPELLINGS: [what: string, spell: (bytes: number) => string][] = [
    ['fields that are ignored', (bytes) => `{"message":"m","more":"${'x'.repeat(bytes)}"}`],
    ['white space', (bytes) => `{"message":${' '.repeat(bytes)}"m"}`],
    ['escapes', (bytes) => `"${'\\u0061'.repeat(bytes / 6)}"`],
  ];

  it.each(SPELLINGS)('may be sent at three times the length at which it is kept, with %s', async (_, spell) => {
    for (const format of FORMAT_NAMES) {
      const id = await newJob();
      const batch = FORMATS[format](['"a"', spell(2.9 * LIMIT), '"b"']);
      expect(await append(service, id, batch)).toMatchObject(appended(3));
    }
  });

  it.each([
    ...SPELLINGS,
    ['brackets', (bytes: number) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`],
    ['what is no JSON', (bytes: number) => 'x'.repeat(bytes)],
  ] as typeof SPELLINGS)('is refused unparsed when it is sent at a greater length still, with %s', async (_, spell) => {
    for (const format of FORMAT_NAMES)
      await expectRefused(service, FORMATS[format](['"a"', spell(4.1 * LIMIT), '"b"']), refusalOf(format, 1));
  });

  it('that grows when it is written as JSON is refused for what it would be', async () => {
    // 1e20 is written as 21 digits.
    const text = `{"message":"m","metadata":{"a":[${Array(1_500).fill('1e20')}]}}`;
    expect(text.length).toBeLessThan(LIMIT);
    await expectRefused(service, { raw: `["a",${text}]` }, refusalOf('an array', 1));
  });

  it.each([
    [16_000, 200],
    [16_500, 413],
  ])('of %i letters is answered with %i', async (letters, status) => {
    expect((await append(service, await newJob(), { body: ['x'.repeat(letters)] })).status).toBe(status);
  });
});
