import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi, ROUTES } from '@yardmaster/api';
import { createJob } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { CALLS, make } from './calls.js';
import { REDIS_COMMANDS } from './redis-commands.js';

type Counts = Record<string, number>;

// A Redis of its own, and the API alone: nothing but the calls asks it for anything.
let redis: OwnRedis;
let service: TestService;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url, app: createApi });
  await createJob(service, 'counted'); // The first of a space may be another matter.
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
});

/** The watch over the connections asks each second, and this test asks for the counts. */
const OF_NO_CALL = ['ping', 'info'];

/** How often Redis has run each command since it started, from wherever it was called. */
async function countsNow(): Promise<Counts> {
  const info = await service.redis.info('commandstats');
  const all = [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, calls]) => [name, Number(calls)]);
  return Object.fromEntries(all.filter(([name]) => !OF_NO_CALL.includes(name as string)));
}

/** What two counts differ by, in words. */
function differences(counted: Counts, expected: Counts): string[] {
  const names = [...new Set([...Object.keys(counted), ...Object.keys(expected)])].sort();
  const lines = names
    .map((name) => ({ name, by: (counted[name] ?? 0) - (expected[name] ?? 0) }))
    .filter(({ by }) => by !== 0)
    .map(({ name, by }) => `${Math.abs(by)} ${name} ${by > 0 ? 'more' : 'less'} than before`);
  return lines.length === 0 ? [] : [...lines, `as it is now: ${rowOf(counted)}`];
}

/** A row of the table: what the API sends first, then by name. */
function rowOf({ evalsha = 0, ...others }: Counts): string {
  const sorted = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1));
  return [['evalsha', evalsha], ...sorted].map(([name, count]) => `${name} ${count}`).join(', ');
}

/** The counts of a row. */
function countsOf(row: string): Counts {
  return Object.fromEntries([...row.matchAll(/(\S+) (\d+)/g)].map(([, name, count]) => [name, Number(count)]));
}

it('counts a call of every endpoint that producers and workers call', () => {
  const rows = ROUTES.filter(({ method, path }) => method === 'POST' && /:(spaceId|jobId)/.test(path));
  expect([...new Set(CALLS.map(({ path }) => path))].sort()).toEqual(rows.map(({ path }) => path).sort());
  expect(Object.keys(REDIS_COMMANDS)).toEqual(CALLS.map(({ name }) => name));
});

it.each(CALLS)('$name takes as many commands of Redis as it did', async (call) => {
  const id = (await call.prepare?.(service)) ?? '';
  // A key is asked for once in five seconds, and not once a call: from here on this one is known.
  const { key } = await service.key(['jobs:create', 'jobs:worker', 'jobs:kill']);
  await service.call('GET', '/spaces/counted/stats', { key });
  const before = await countsNow();
  await make(service, call, { id, key });
  const after = await countsNow();
  const counted = Object.fromEntries(
    Object.entries(after)
      .map(([name, count]): [string, number] => [name, count - (before[name] ?? 0)])
      .filter(([, count]) => count > 0),
  );
  expect(differences(counted, countsOf(REDIS_COMMANDS[call.name] ?? ''))).toEqual([]);
});
