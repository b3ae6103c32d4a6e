import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { LOG_LEVELS } from '@yardmaster/protocol';
import { startService, type TestService } from '../support/service.js';
import { jobWithLogs, range } from './reading.js';

let service: TestService;
/** One entry of each level, in the order of their weight. */
let levels: string;
/** 600 entries. */
let many: string;

beforeAll(async () => {
  service = await startService({}, { app: createApi });
  levels = await jobWithLogs(
    service,
    LOG_LEVELS.map((level) => ({ message: `of level ${level}`, level })),
  );
  many = await jobWithLogs(
    service,
    range(1, 600).map((n) => `${n}`),
  );
});
afterAll(() => service.stop());

const LIMIT = 'limit must be an integer of at least 1';
const AFTER = 'after must be an integer of at least 0';
const BEFORE = 'before must be an integer of at least 0';
const BOTH = 'after and before must not be used together';
const LEVEL = 'level must be one of trace, debug, info, warn, error, fatal';

const NO_INTEGER = ['', 'abc', '1.5', '1.0', '-1', '1e2', '0x1', '%2B1', '%201', '1%20', '1%00', 'null', '%EF%BC%91'];

const refused: { query: string; error: string }[] = [
  ...['0', ...NO_INTEGER].map((value) => ({ query: `limit=${value}`, error: LIMIT })),
  ...NO_INTEGER.map((value) => ({ query: `after=${value}`, error: AFTER })),
  ...NO_INTEGER.map((value) => ({ query: `before=${value}`, error: BEFORE })),
  ...['limit', 'after', 'before', 'q'].map((name) => ({
    query: `${name}=1&${name}=1`,
    error: `${name} must be given once`,
  })),
  { query: 'after=1&before=5', error: BOTH },
  { query: 'before=5&after=0', error: BOTH },
  ...['', 'unknown', 'WARN', 'warning', 'warn,', ',warn', 'warn,,error', 'warn,unknown', 'warn%20error', '3'].map(
    (value) => ({ query: `level=${value}`, error: LEVEL }),
  ),
  { query: 'level=warn&level=', error: LEVEL },
  { query: 'level=warn&level=unknown', error: LEVEL },
  { query: 'level=__proto__', error: LEVEL },
  { query: `q=${'x'.repeat(501)}`, error: 'q must be at most 500 characters' },
  { query: `q=${encodeURIComponent('🚂'.repeat(501))}`, error: 'q must be at most 500 characters' },
  { query: `q=${Array(33).fill('x').join('+')}`, error: 'q must have at most 32 terms' },
];

const short = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

describe('a query that is refused', () => {
  it.each(refused.map((row) => ({ ...row, title: short(row.query) })))('$title', async ({ query, error }) => {
    const { status, body } = await service.call('GET', `/jobs/${levels}/logs?${query}`);
    expect({ status, body }).toEqual({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
  });

  it('has each of several faults named', async () => {
    const { status, body } = await service.call('GET', `/jobs/${levels}/logs?limit=x&after=x&before=x&level=x&q=1&q=2`);
    const details = [LIMIT, AFTER, BEFORE, LEVEL, 'q must be given once'].map((message) => ({
      path: message.split(' ')[0],
      message,
    }));
    expect({ status, body }).toEqual({ status: 400, body: { error: LIMIT, code: 'INVALID_REQUEST', details } });
  });
});

const messagesOf = (body: { logs: { message: string }[] }) => body.logs.map(({ message }) => message);

describe('the limit', () => {
  it.each([
    { query: '', served: 200 },
    { query: 'limit=1', served: 1 },
    { query: 'limit=007', served: 7 },
    { query: 'limit=200', served: 200 },
    { query: 'limit=499', served: 499 },
    { query: 'limit=500', served: 500 },
    { query: 'limit=501', served: 500 },
    { query: 'limit=600', served: 500 },
    { query: 'limit=99999999999999999999', served: 500 },
    { query: `limit=${'9'.repeat(400)}`, served: 500 },
  ])('is $served for "$query", in each mode', async ({ query, served }) => {
    const pages: string[][] = [];
    for (const bound of ['', 'after=50', 'before=551'])
      pages.push(messagesOf((await service.call('GET', `/jobs/${many}/logs?${bound}&${query}`)).body));
    const texts = (from: number, to: number) => range(from, to).map(String);
    expect(pages).toEqual([texts(601 - served, 600), texts(51, 50 + served), texts(551 - served, 550)]);
  });
});

describe('the levels', () => {
  it.each(
    [
      ...LOG_LEVELS.map((level) => ({ query: `level=${level}`, shown: [level as string] })),
      { query: 'level=warn,error', shown: ['warn', 'error'] },
      { query: 'level=error,warn', shown: ['warn', 'error'] },
      { query: 'level=warn%2Cerror', shown: ['warn', 'error'] },
      { query: 'level=warn&level=error', shown: ['warn', 'error'] },
      { query: 'level=fatal&level=trace,debug', shown: ['trace', 'debug', 'fatal'] },
      { query: 'level=fatal,trace&level=trace&level=fatal', shown: ['trace', 'fatal'] },
      { query: 'level=warn,warn', shown: ['warn'] },
      { query: `level=${LOG_LEVELS.join(',')}`, shown: [...LOG_LEVELS] },
      { query: LOG_LEVELS.map((level) => `level=${level}`).join('&'), shown: [...LOG_LEVELS] },
      { query: `level=${Array(1_000).fill('warn').join(',')}`, shown: ['warn'] },
    ].map((row) => ({ ...row, title: short(row.query) })),
  )('$title shows $shown', async ({ query, shown }) => {
    const { body } = await service.call('GET', `/jobs/${levels}/logs?${query}`);
    expect(messagesOf(body)).toEqual(shown.map((level) => `of level ${level}`));
  });
});

describe('a query that filters nothing', () => {
  it.each(['', 'q=', 'q=%20', 'q=+%09%0A', 'unknown=1', 'levels=warn', 'limit[]=x', '__proto__=1', '&&=&'])(
    '"%s"',
    async (query) => {
      const { status, body } = await service.call('GET', `/jobs/${levels}/logs?${query}`);
      expect(status).toBe(200);
      expect(messagesOf(body)).toEqual(LOG_LEVELS.map((level) => `of level ${level}`));
    },
  );
});

it.each([
  { what: '500 characters', q: 'x'.repeat(500), message: 'X'.repeat(600) },
  { what: '500 characters of two units each', q: '🚂'.repeat(500), message: `${'🚂'.repeat(500)}.` },
  { what: '32 terms', q: range(1, 32).join(' '), message: range(1, 40).join('-') },
])('takes a search of $what', async ({ q, message }) => {
  const jobId = await jobWithLogs(service, ['other', message, 'x']);
  const { status, body } = await service.call('GET', `/jobs/${jobId}/logs?q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
  expect(messagesOf(body)).toEqual([message]);
});
