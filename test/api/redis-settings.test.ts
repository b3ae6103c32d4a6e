import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { API_VARIABLES, createApiServer } from '@yardmaster/api';
import { createLogger, type Logger, readConfig } from '@yardmaster/runtime';
import { createHttpService, createServerContext } from '@yardmaster/server';
import { scrape } from '../metrics/scrape.js';
import { during } from '../support/during.js';
import { jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { openService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT } from '../support/shared-service.js';
import { until } from '../support/until.js';

// Redis' settings change while the API runs. It runs in this process, where it checks them every 20 ms and not every 30
// s.

const redis = withRedis();
const strict = during(
  () => startApi(),
  ({ stop }) => stop(),
);
const lenient = during(
  () => startApi({ ALLOW_EVICTION: 'true' }),
  ({ stop }) => stop(),
);

type Api = Awaited<ReturnType<typeof startApi>>;

async function startApi(env: Record<string, string> = {}) {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const variables = { ...LONG_REDIS_TIMEOUT, PORT: '0', ADMIN_API_KEY: ADMIN_KEY, KEY_PREFIX: prefix, ...env };
  const config = { ...readConfig(variables, API_VARIABLES), REDIS_URL: redis.url };
  /** Level and text of each line above debug. */
  const lines: [level: string, text: string][] = [];
  const keep = (level: string) => (fields: unknown, text?: string) => lines.push([level, text ?? String(fields)]);
  const kept = { error: keep('error'), warn: keep('warn'), info: keep('info') };
  const log = Object.assign(createLogger('test', 'silent'), kept) as unknown as Logger;
  const context = createServerContext(config, log, { checkRedisEveryMs: 20 });
  const httpService = createHttpService({
    name: 'test',
    context,
    server: createApiServer({ context, config, log }),
    config,
    log,
  });
  await httpService.start();
  const service = openService({ url: httpService.url(), redisUrl: redis.url, prefix });
  return {
    service,
    lines,
    async stop() {
      await service.stop();
      await httpService.stop(10_000);
    },
  };
}

const configure = (name: string, value: string) => strict.service.redis.config('SET', name, value);
const create = ({ service }: Api) => service.call('POST', '/spaces/watched/jobs', { body: { name: 'work' } });
const EVICTS = ['error', 'Redis deletes jobs when its memory is full: maxmemory-policy must be noeviction'] as const;
const WARNS = ['warn', 'Redis may evict jobs: maxmemory-policy is allkeys-lru but must be noeviction'] as const;
const SAFE = ['info', 'Redis no longer risks losing jobs'] as const;
const says = async ({ lines }: Api, [level, text]: readonly [string, string]) =>
  until(() => lines.some((line) => line[0] === level && line[1] === text));
const memoryLimit = async ({ service }: Api) =>
  (await scrape(service)).get('yardmaster_redis_maxmemory_bytes{primary="redis"}');
/** Return the faults that the gauges show. */
const unsafe = async ({ service }: Api) =>
  [...(await scrape(service))].flatMap(([series, value]) =>
    series.startsWith('yardmaster_redis_unsafe{') && value === 1 ? [/fault="(\w+)"/.exec(series)?.[1]] : [],
  );

beforeEach(() => {
  for (const { lines } of [strict, lenient]) lines.splice(0);
});

afterEach(async () => {
  await configure('maxmemory-policy', 'noeviction');
  await configure('appendonly', 'yes');
  // No test sets this limit, so an API that shows it has also seen the settings above.
  await configure('maxmemory', '2gb');
  for (const api of [strict, lenient]) await until(async () => (await memoryLimit(api)) === 2 ** 31);
  await configure('maxmemory', '0');
});

it('refuses to create jobs while Redis has a memory limit and evicts, but serves all other calls', async () => {
  const running = await jobIn(strict.service, 'running', 'watched');
  await configure('maxmemory', '1gb');
  await configure('maxmemory-policy', 'allkeys-lru');
  await says(strict, EVICTS);
  expect(await create(strict)).toMatchObject({
    status: 503,
    headers: { 'retry-after': expect.stringMatching(/^[1-5]$/) },
    body: { code: 'STORAGE_UNSAFE', error: 'Storage may delete jobs when it is full; nothing was stored' },
  });
  expect(await unsafe(strict)).toEqual(['evicts']);
  expect(await memoryLimit(strict)).toBe(2 ** 30);
  for (const verb of ['progress', 'logs', 'complete'])
    await step(strict.service, running, verb, { progress: { percent: 1, message: 'on' }, logs: ['on'] }[verb] ?? {});

  await configure('maxmemory-policy', 'noeviction');
  await says(strict, SAFE);
  expect((await create(strict)).status).toBe(201);
  expect(strict.lines.filter(([, text]) => text !== 'request not served')).toEqual([EVICTS, SAFE]);
});

it('creates jobs on a Redis that evicts if ALLOW_EVICTION is true, but still logs the fault', async () => {
  await configure('maxmemory', '1gb');
  await configure('maxmemory-policy', 'allkeys-lru');
  await says(lenient, EVICTS);
  expect((await create(lenient)).status).toBe(201);
  expect(await unsafe(lenient)).toEqual(['evicts']);
});

it('warns about an evicting Redis without a memory limit, and creates jobs', async () => {
  await configure('maxmemory-policy', 'allkeys-lru');
  await says(strict, WARNS);
  expect((await create(strict)).status).toBe(201);
  expect(await unsafe(strict)).toEqual([]);
});

it('warns when the append-only file of Redis is off', async () => {
  await configure('appendonly', 'no');
  const text = 'Redis keeps no append-only file: jobs created since its last snapshot are lost if it crashes';
  await says(strict, ['warn', text]);
  expect((await scrape(strict.service)).get('yardmaster_redis_append_only{primary="redis"}')).toBe(0);
});

// The last test, because it also evicts keys of the service.
it('reports the keys that Redis has evicted since the last check', async () => {
  await strict.service.redis.set('a key of others', 'x');
  await configure('maxmemory-policy', 'allkeys-random');
  await configure('maxmemory', '1'); // The next command of any client evicts.
  await says(strict, ['error', 'Redis has deleted keys because its memory was full: run fsck']);
  const evicted = 'yardmaster_redis_evicted_keys{primary="redis"}';
  await until(async () => ((await scrape(strict.service)).get(evicted) ?? 0) > 0);
});
