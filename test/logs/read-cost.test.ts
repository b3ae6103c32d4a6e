import { beforeAll, expect, it } from '@jest/globals';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { jobWithLogs, type Query, range, readPage, seqsOf, walk } from './reading.js';

// A Redis of its own, and only the API, so that the counters of Redis count the commands of reads.
const redis = withRedis();
const service = withService({}, { app: 'api', redis });

const COUNT = 10_000;
/** Bytes of an entry as Redis stores it and sends it: 100 of the message and less than 35 around it. */
const ENTRY_BYTES = 135;

let jobId: string;
beforeAll(async () => {
  const message = (n: number) => `entry ${n} ${n === 5_000 ? 'unique' : 'usual'} `.padEnd(100, '~');
  jobId = await jobWithLogs(service, range(1, COUNT).map(message));
});

/** Count scripts, all commands, and bytes sent by Redis during a read. */
async function costOf(read: () => Promise<void>) {
  await service.redis.config('RESETSTAT');
  await read();
  const bytes = Number(/^total_net_output_bytes:(\d+)/m.exec(await service.redis.info('stats'))?.[1]);
  const stats = await service.redis.info('commandstats');
  // Without the commands of the service's checks and of this test.
  const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].filter(
    ([, name = '']) => !/^(ping|info|config.*|client.*)$/.test(name),
  );
  const total = (counted: typeof calls) => counted.reduce((sum, [, , count]) => sum + Number(count), 0);
  return { scripts: total(calls.filter(([, name]) => name === 'evalsha')), calls: total(calls), bytes };
}

it.each<[what: string, q: string, finds: number[]]>([
  ['nothing', 'none of these', []],
  ['one entry', 'unique', [5_000]],
])('reads each of 10,000 log entries once, in a few portions, for a search that finds %s', async (_, q, finds) => {
  const { scripts, calls, bytes } = await costOf(async () => {
    const found = await walk('forwards', (bound) => readPage(service, jobId, { ...bound, q }));
    expect(seqsOf(found)).toEqual(finds);
  });
  expect(scripts).toBeLessThanOrEqual(20);
  expect(calls).toBeLessThanOrEqual(600);
  expect(bytes).toBeLessThan(COUNT * ENTRY_BYTES);
});

it.each<[query: Query]>([[{ after: 4_000 }], [{ before: 4_000 }], [{}]])(
  'reads only the log entries of the page for the query %j',
  async (query) => {
    const { scripts, calls, bytes } = await costOf(async () => {
      expect((await readPage(service, jobId, { ...query, limit: 100 })).logs).toHaveLength(100);
    });
    expect(scripts).toBe(1);
    expect(calls).toBeLessThan(20); // Some are the service's own checks.
    expect(bytes).toBeLessThan(2 * 100 * ENTRY_BYTES);
  },
);

it('stops a log search when its page is full', async () => {
  const { bytes } = await costOf(async () => {
    const { logs, cursor } = await readPage(service, jobId, { after: 0, q: 'usual', limit: 50 });
    expect([logs.length, cursor.hasMore]).toEqual([50, true]);
  });
  expect(bytes).toBeLessThan((COUNT / 2) * ENTRY_BYTES);
});

it('reads log entries of the largest size in portions of less than 2 MB', async () => {
  const large = await jobWithLogs(service, Array(200).fill('x'.repeat(16_000)));
  const { scripts, bytes } = await costOf(async () => {
    const found = await walk('forwards', (bound) => readPage(service, large, { ...bound, q: 'none of these' }));
    expect(found).toEqual([]);
  });
  expect(bytes / scripts).toBeLessThan(2 * 1_048_576);
});
