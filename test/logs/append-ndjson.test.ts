import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, appended, asNdjson, entriesOf, expectStored, gzipped, written } from './entries.js';
import { expectRefused, invalid } from './refusals.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'ndjson')).id;

const ENTRY = 'must be a string or an object';
const LEVEL = 'must be one of trace, debug, info, warn, error, fatal';
const NONE = invalid('logs must have at least one entry');

describe('NDJSON', () => {
  it.each([
    ['line feeds', '"a"\n"b"'],
    ['a line feed at the end', '"a"\n"b"\n'],
    ['CRLF', '"a"\r\n"b"\r\n'],
    ['blank lines before, between and after', '\n\n"a"\n\n\n"b"\n\n'],
    ['blank lines of CRLF', '\r\n"a"\r\n\r\n"b"\r\n\r\n'],
    ['lines of white space', '  \n"a"\n\t \n"b"\n '],
    ['white space around its entries', '  "a"\t\n\t{ "message" : "b" } '],
  ])('may have %s', async (_, raw) => {
    const id = await newJob();
    expect(await append(service, id, asNdjson(raw))).toMatchObject(appended(2));
    await expectStored(service, id, ['a', 'b']);
  });

  it('ends its lines at line feeds only', async () => {
    const id = await newJob();
    const messages = ['a\u2028b', 'a\u2029b', 'a\u0085b', 'a\u000bb', 'a\nb', 'a\r\nb'];
    // JSON writes the last three as escapes; the others are in the line as they are.
    expect(await append(service, id, written('NDJSON', messages))).toMatchObject(appended(messages.length));
    await expectStored(service, id, messages);
  });

  it('has as many entries as JSON, however many lines are blank', async () => {
    const id = await newJob();
    const entries = entriesOf(1_000);
    const raw = entries.map((entry) => `${JSON.stringify(entry)}\n\n\n`).join('');
    expect(await append(service, id, asNdjson(raw))).toMatchObject(appended(1_000));
    await expectStored(service, id, entries);
  });
});

describe('NDJSON refuses', () => {
  it.each(['', '\n', '\n\n\n', '\r\n', ' \n\t\r\n '])('%j, which has no entry', async (raw) => {
    await expectRefused(service, asNdjson(raw), NONE);
    await expectRefused(service, gzipped(asNdjson(raw)), NONE);
  });

  it.each([
    ['a word that is no JSON', '"a"\n\nb\n"c"', 3],
    ['two entries on a line', '"a" "b"\n"c"', 1],
    ['a comma between lines', '"a",\n"b"', 1],
    ['an entry that goes on in the next line', '"a"\n{"message":\n"b"', 2],
    ['a line that stops', '"a"\r\n\r\n{"message":"b"', 3],
    ['a carriage return for a line end', '"a"\r"b"', 1],
    ['a NUL', '"a"\n\0\n"b"', 2],
  ])('%s', async (_, raw, line) => {
    await expectRefused(service, asNdjson(raw), invalid(`line ${line} must be valid JSON`));
  });

  it('several faults, those of lines that are no JSON among them', async () => {
    const sentences = [
      'line 1 must be valid JSON',
      `line 3: level ${LEVEL}`,
      'line 6 must be valid JSON',
      `line 7 ${ENTRY}`,
    ];
    const details = sentences.map((message) => ({ path: message.slice(0, message.indexOf(' must')), message }));
    const raw = '{"message":\n\n{"message":"m","level":"loud"}\n"fine"\n\n"b"}\n5';
    await expectRefused(service, asNdjson(raw), { ...invalid(sentences[0] as string), details });
  });

  it.each([
    ['blank lines', '\n\n"a"\n \n'],
    ['blank lines of CRLF', '\r\n\r\n"a"\r\n\r\n'],
  ])('an entry by its line, with %s counted', async (_, before) => {
    const level = invalid(`line 5: level ${LEVEL}`);
    await expectRefused(service, asNdjson(`${before}{"message":"m","level":"loud"}\n`), level);
  });

  it('a batch in the form of JSON', async () => {
    await expectRefused(service, asNdjson('["a","b"]'), invalid(`line 1 ${ENTRY}`));
    await expectRefused(service, asNdjson('{"logs":["a"]}'), invalid('line 1: message is required'));
  });
});
