import { beforeAll, describe, expect, it } from '@jest/globals';
import { LOG_LEVELS, logsQuery } from '@yardmaster/protocol';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { jobWithLogs, messagesOf, type Query, queryText, range, readPage, seqsOf } from './reading.js';

const service = withService();

/** Entries 1 to 10, the even ones of level warn. */
let ten: string;
let empty: string;
/** One entry of each level, in ascending order. */
let levels: string;
/** 600 entries. */
let many: string;
beforeAll(async () => {
  const level = (n: number) => (n % 2 === 0 ? 'warn' : 'info');
  ten = await jobWithLogs(
    service,
    range(1, 10).map((n) => ({ message: `entry ${n}`, level: level(n) })),
  );
  empty = await jobWithLogs(service, []);
  levels = await jobWithLogs(
    service,
    LOG_LEVELS.map((each) => ({ message: each, level: each })),
  );
  many = await jobWithLogs(service, range(1, 600).map(String));
});

const LARGEST_SEQ = 2 ** 53 - 1;

/** The expected page of ten entries: its seqs or, if empty, its bound, and whether there are more. */
const PAGES: [query: Query, seqs: number[] | { bound: number }, hasMore?: boolean][] = [
  [{}, range(1, 10)],
  [{ limit: 10 }, range(1, 10)],
  [{ limit: 9 }, range(2, 10), true],
  [{ level: 'warn', limit: 5 }, [2, 4, 6, 8, 10]],
  [{ level: 'warn', limit: 4 }, [4, 6, 8, 10], true],
  [{ q: 'entry 1', limit: 2 }, [1, 10]],
  [{ q: 'entry 1', limit: 1 }, [10], true],
  [{ q: 'entry 1', level: 'warn' }, [10]],
  [{ level: 'fatal' }, { bound: 0 }],
  [{ after: 0 }, range(1, 10)],
  [{ after: 0, limit: 9 }, range(1, 9), true],
  [{ after: 1, limit: 9 }, range(2, 10)],
  [{ after: 9 }, [10]],
  [{ after: 10 }, { bound: 10 }],
  [{ after: LARGEST_SEQ }, { bound: LARGEST_SEQ }],
  [{ after: 2, level: 'warn', limit: 2 }, [4, 6], true],
  [{ after: 6, level: 'warn', limit: 2 }, [8, 10]],
  [{ after: 3, q: 'nothing' }, { bound: 3 }],
  [{ before: 11, limit: 10 }, range(1, 10)],
  [{ before: 11, limit: 9 }, range(2, 10), true],
  [{ before: 10, limit: 9 }, range(1, 9)],
  [{ before: 2 }, [1]],
  [{ before: 1 }, { bound: 1 }],
  [{ before: 0 }, { bound: 0 }],
  [{ before: LARGEST_SEQ, limit: 2 }, [9, 10], true],
  [{ before: 9, level: 'warn', limit: 2 }, [6, 8], true],
  [{ before: 10, q: 'entry 1' }, [1]],
  [{ before: 7, q: 'nothing' }, { bound: 7 }],
];

const modeOf = ({ after, before }: Query) => {
  if (after !== undefined) return 'after';
  return before === undefined ? 'latest' : 'before';
};

it.each(PAGES.map(([query, seqs, hasMore = false]) => ({ title: queryText(query), query, seqs, hasMore })))(
  'the query "$title" on ten log entries returns the seqs $seqs',
  async ({ query, seqs, hasMore }) => {
    const { logs, cursor } = await readPage(service, ten, query);
    const [oldestSeq, newestSeq] = Array.isArray(seqs) ? [seqs[0], seqs.at(-1)] : [seqs.bound, seqs.bound];
    expect(seqsOf(logs)).toEqual(Array.isArray(seqs) ? seqs : []);
    expect(cursor).toEqual({ mode: modeOf(query), oldestSeq, newestSeq, hasMore });
  },
);

it.each<[query: Query, bound: number]>([
  [{}, 0],
  [{ after: 5 }, 5],
  [{ before: LARGEST_SEQ }, LARGEST_SEQ],
  [{ q: 'x', level: 'info' }, 0],
])('returns an empty page of logs with the requested bound for a job without logs: %j', async (query, bound) => {
  const cursor = { mode: modeOf(query), oldestSeq: bound, newestSeq: bound, hasMore: false };
  expect(await readPage(service, empty, query)).toEqual({ logs: [], cursor });
});

it.each(['9007199254740993', '99999999999999999999', '9'.repeat(400)])(
  'treats a log bound beyond the precision of a double as larger than every seq: %s',
  async (bound) => {
    const before = await readPage(service, ten, `limit=2&before=${bound}`);
    expect(before.cursor).toEqual({ mode: 'before', oldestSeq: 9, newestSeq: 10, hasMore: true });
    const after = await readPage(service, ten, `after=${bound}`);
    const { newestSeq } = after.cursor;
    expect(after).toEqual({
      logs: [],
      cursor: { mode: 'after', oldestSeq: newestSeq, newestSeq: expect.any(Number), hasMore: false },
    });
    expect(await readPage(service, ten, { after: newestSeq })).toEqual(after);
  },
);

const NINES = '9'.repeat(400);

it.each(
  Object.entries({ '': 200, 1: 1, '007': 7, 499: 499, 500: 500, 501: 500, 99999999999999999999: 500, [NINES]: 500 }),
)('the limit %s returns a page of %i log entries, in each mode', async (limit, served) => {
  const pages: string[][] = [];
  for (const bound of ['', 'after=50', 'before=551'])
    pages.push(messagesOf((await readPage(service, many, `${bound}${limit && `&limit=${limit}`}`)).logs));
  const texts = (from: number, to: number) => range(from, to).map(String);
  expect(pages).toEqual([texts(601 - served, 600), texts(51, 50 + served), texts(551 - served, 550)]);
});

const ALL = [...LOG_LEVELS];

it.each<[shown: string[], queries: string[]]>([
  ...LOG_LEVELS.map((level): [string[], string[]] => [[level], [`level=${level}`]]),
  [['warn'], ['level=warn,warn&level=warn', `level=${Array(1_000).fill('warn').join(',')}`]],
  [
    ['warn', 'error'],
    ['level=error,warn', 'level=warn%2Cerror', 'level=warn,%20error', 'level=warn&level=error'],
  ],
  [['trace', 'debug', 'fatal'], ['level=fatal&level=trace,debug']],
  [ALL, [`level=${ALL.join(',')}`, '', 'q=', 'q=%20', 'q=+%09%0A', 'q=%22%22', 'q=%22', 'q=%22%22+%22%22']],
  [
    ['warn', 'fatal'],
    ['level=warning,critical', 'level=warn,%20warning&level=critical'],
  ],
  [ALL, ['&&&']],
])('returns log entries with the levels %j for each spelling of the query', async (shown, queries) => {
  for (const query of queries) {
    const { logs } = await readPage(service, levels, query);
    expect({ query, shown: messagesOf(logs) }).toEqual({ query, shown });
  }
});

describe('query of logs', () => {
  const NO_INTEGER = ['', 'abc', '1.5', '1.0', '-1', '1e2', '0x1', '%2B1', '%201', '1%20', '1%00', 'null', '%EF%BC%91'];
  const LIMIT = 'limit must be an integer of at least 1';
  const AFTER = 'after must be an integer of at least 0';
  const BEFORE = 'before must be an integer of at least 0';
  const BOTH = 'after and before must not be used together';
  const LEVEL = 'level must be one of trace, debug, info, warn, error, fatal';
  const LONG = 'q must be at most 500 characters';

  it.each<[error: string, queries: string[]]>([
    [LIMIT, ['0', ...NO_INTEGER].map((value) => `limit=${value}`)],
    [AFTER, NO_INTEGER.map((value) => `after=${value}`)],
    [BEFORE, NO_INTEGER.map((value) => `before=${value}`)],
    ...['limit', 'after', 'before', 'q'].map((name): [string, string[]] => [
      `${name} must appear exactly once`,
      [`${name}=1&${name}=1`],
    ]),
    [BOTH, ['after=1&before=5', 'before=5&after=0']],
    [LEVEL, ['', 'notice', 'warn,', ',warn', 'warn,,error', 'warn%20error', '3'].map((it) => `level=${it}`)],
    [LEVEL, ['level=warn&level=', 'level=warn&level=unknown', 'level=__proto__']],
    [LONG, [`q=${'x'.repeat(501)}`, `q=${encodeURIComponent('🚂'.repeat(501))}`]],
    ['q must have at most 32 terms', [`q=${Array(33).fill('x').join('+')}`]],
  ])('refuses a query of logs with "%s"', async (error, queries) => {
    for (const query of queries) {
      const { status, body } = await service.call('GET', `/jobs/${levels}/logs?${query}`);
      expect({ query, status, body }).toEqual({ query, status: 400, body: { error, code: 'INVALID_REQUEST' } });
    }
  });

  it('refuses a query of logs with one detail per fault', async () => {
    const { status, body } = await service.call('GET', `/jobs/${levels}/logs?limit=x&after=x&before=x&level=x&q=1&q=2`);
    const details = [LIMIT, AFTER, BEFORE, LEVEL, 'q must appear exactly once'].map((message) => ({
      path: message.split(' ')[0],
      message,
    }));
    expect({ status, body }).toEqual({ status: 400, body: { error: LIMIT, code: 'INVALID_REQUEST', details } });
    expect(details.map(({ path }) => path)).toEqual(Object.keys(logsQuery.in.shape));
  });
});

it.each([
  ['500 characters', 'x'.repeat(500), 'X'.repeat(600)],
  ['500 characters of two units each', '🚂'.repeat(500), `${'🚂'.repeat(500)}.`],
  ['32 terms', range(1, 32).join(' '), range(1, 40).join('-')],
])('accepts a search of logs with %s', async (_, q, message) => {
  const jobId = await jobWithLogs(service, ['other', message, 'x']);
  expect(messagesOf((await readPage(service, jobId, { q })).logs)).toEqual([message]);
});

it('refuses a read of logs for the first fault in the order key, scope, query, job', async () => {
  const { id } = await createJob(service, 'own');
  const scopeless = (await service.key(['jobs:poll'])).key;
  const elsewhere = (await service.key(['jobs:read'], { spaceId: 'other' })).key;
  const responses: unknown[] = [];
  for (const [key, path] of [
    ['garbage', '/jobs/nope/logs?limit=0'],
    [scopeless, '/jobs/nope/logs?limit=0'],
    [elsewhere, '/jobs/nope/logs?limit=0'],
    [elsewhere, `/jobs/${id}/logs?limit=0`],
    [elsewhere, '/jobs/nope/logs?q=x&level=warn&before=9'],
    [elsewhere, `/jobs/${id}/logs?after=0`],
  ] as const) {
    const { status, body } = await service.call('GET', path, { key });
    responses.push([status, body.code]);
  }
  expect(responses).toEqual([
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [400, 'INVALID_REQUEST'],
    [400, 'INVALID_REQUEST'],
    [404, 'JOB_NOT_FOUND'],
    [403, 'FORBIDDEN'],
  ]);
});
