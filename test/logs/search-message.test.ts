import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { jobWithLogs, readLogs } from './reading.js';
import { messagesFound } from './searching.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

describe('what is stored beside and around the message', () => {
  const entry = {
    message: 'plain',
    level: 'error' as const,
    timestamp: '2024-02-29T10:30:00Z',
    source: 'needle-source',
    metadata: { needleKey: 'needleValue', nested: ['needle'] },
  };

  it.each([
    ...['needle', 'needle-source', 'needlekey', 'needlevalue', 'error', '4', 'worker', 'info', '2024', '1709202600000'],
    ...['message', 'level', 'source', 'metadata', 'loggedAt', 'createdAt', 'seq', 'id', 'null'],
    ...['[', ']', '{', ',', ':', 'plain"'],
  ])('is not searched: %j', async (q) => {
    expect(await messagesFound(service, [entry, 'plain'], q)).toEqual([]);
  });

  it.each<{ what: string; message: string; finds: string[]; not: string[] }>([
    { what: 'a quote', message: 'say "hi"', finds: ['y "h', 'hi"', 'say'], not: ['\\"', '\\'] },
    { what: 'a line feed', message: 'a\nb', finds: ['"a\nb"', 'a b'], not: ['\\n', 'n', '"a b"'] },
    { what: 'tab and return', message: 'a\t\r\fb', finds: ['"\t\r"', 'a'], not: ['t', 'r', 'f', '\\t'] },
    { what: 'a control character', message: 'a\u0001b', finds: ['\u0001', 'a\u0001b'], not: ['u0001', '0', '\\'] },
    { what: 'U+0000', message: 'a\u0000b', finds: ['a\u0000b', '\u0000'], not: ['u0000', 'ab'] },
    { what: 'a backslash', message: 'a\\b', finds: ['a\\b', '\\'], not: ['a\\\\b', '\\\\', '\b'] },
    { what: 'what looks like an escape', message: '\\u00e9 \\n', finds: ['u00E9', '\\n'], not: ['é', '"\n"'] },
    { what: 'a lone surrogate', message: 'a\ud800b', finds: ['a', 'b'], not: ['ud800', 'd800', '\\'] },
    { what: 'line separators', message: 'a\u2028b', finds: ['"a\u2028b"'], not: ['u2028', '2028', 'ab'] },
    { what: 'JSON', message: '["x",{"y":null}]', finds: ['{"y":null}', '["x"', ','], not: ['{y', '\\"'] },
  ])('does not show in the search: a message with $what', async ({ message, finds, not }) => {
    const jobId = await jobWithLogs(service, [message]);
    const found: string[] = [];
    for (const q of [...finds, ...not]) if ((await readLogs(service, jobId, { q })).logs.length === 1) found.push(q);
    expect(found).toEqual(finds);
  });
});
