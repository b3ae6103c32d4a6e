// node test/golden/make.mjs <version>: write what this release leaves in Redis to test/golden/<version>.json. Run it as the
// last step before a release. The file of a released version must never change again, because golden.test.ts checks every
// later release with it. Until the release, run it again whenever what is stored changes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, setUp } from '../../scripts/set-up.mjs';

setUp();
const { createJobRequest } = await import('@yardmaster/protocol');
const { createRedis, findRedisServer, PrivateRedis } = await import('@yardmaster/redis');
const { createLogger } = await import('@yardmaster/runtime');
const y = await import('@yardmaster/store');

const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('which version? For example: node test/golden/make.mjs 0.2.0');
const PREFIX = 'golden';
const SPACES = ['golden', 'golden:2', 'Few.of_it-all'];
const HOOK = 'https://example.com/hook';
const ANY = y.ANY_SPACE;

const dataDir = mkdtempSync(join(tmpdir(), 'yardmaster-golden-'));
const binary = await findRedisServer(join(root, '.cache/redis'), () => undefined);
const server = new PrivateRedis({ binary, dataDir });
await server.start();
const redis = createRedis(server.url, 'commands', createLogger('golden', 'silent'));
await redis.connect();

/** With few events and logs, so that the oldest of some jobs are dropped. */
const store = y.createStore(redis, { keyPrefix: PREFIX, eventsPerJob: 10, logsPerJob: 3 });
await y.prepareRedis(store);

/** Create a job, and apply these steps to it in order. */
async function make(fields, ...steps) {
  const { space = SPACES[0], ...request } = fields;
  const { id } = await y.createJob(store, space, createJobRequest.parse({ name: 'work', ...request }));
  for (const step of steps) await step(id);
  return id;
}

const claim = (id) => y.claimJob(store, ANY, id);
const ack = (id) => y.ackJob(store, ANY, id);
const beat = (kind, data) => (id) => y.heartbeatJob(store, ANY, id, { kind, data });
const complete = (result) => (id) => y.completeJob(store, ANY, id, result);
const fail = (error) => (id) => y.failJob(store, ANY, id, { error });
const kill = (reason) => (id) => y.killJob(store, ANY, id, reason);
const logs =
  (...entries) =>
  (id) =>
    y.appendLogs(store, ANY, id, entries.map(y.packLog));
const run = [claim, ack];
const timeOut = async (id) => {
  const deadlines = store.keys.deadlines(id.slice(0, 2));
  await redis.zadd(deadlines, 'XX', 1, id);
  await y.expireDue(store, id.slice(0, 2), await y.redisNow(store));
};
const attempt = (retryMs) => async (id) => {
  const { lease, attempt } = await y.beginCallback(store, { jobId: id, series: 0 });
  const data = { url: HOOK, statusCode: retryMs === null ? 200 : 503, attempt, willRetry: retryMs !== null };
  await y.recordCallback(store, { jobId: id, series: 0 }, { lease, type: 'callback_sent', data, retryMs });
};

const everything = {
  name: 'say "ü"\n\\',
  payload: { list: [], object: {}, n: 1e21, text: 'ü\u0000"' },
  maxRetries: 5,
  timeoutSeconds: 60.5,
  callbackUrl: HOOK,
  callbackHeaders: { 'X-Token': 't"t' },
};

// Pending, in several spaces and by several names.
await make({});
await make(everything);
await make({ space: SPACES[1], name: 'build:arm', payload: null });
await make({ space: SPACES[2], maxRetries: 0 });
await make({}, ...run, beat('checkpoint', { page: 7 }), fail({ why: [] }));
await make({}, claim, timeOut);
await make({}, ...run, timeOut);
// Delivered and running.
await make({}, claim);
await make(everything, claim);
await make({}, ...run);
const progress = { percent: 40.5, message: 'on', subProgress: { a: { percent: 1, message: 'x' } } };
await make(everything, ...run, beat('progress', progress), beat('checkpoint', [1]), beat('event', 'seen'));
await make(
  {},
  ...run,
  logs({ message: 'one' }, { message: 'two', level: 'error', source: 'compiler', metadata: { a: 1 } }),
);
const many = Array.from({ length: 12 }, (_, n) => beat('event', n));
await make(
  { space: SPACES[1] },
  ...run,
  ...many,
  logs({ message: 'a' }, { message: 'b' }),
  logs({ message: 'c' }, { message: 'd' }),
);
// Ended, with callbacks that are pending, in progress, due again, and settled.
await make({}, ...run, complete({ ok: [] }));
await make({}, ...run, beat('keepalive'), beat('progress', { percent: 100, message: 'ö' }), complete(null));
await make({ callbackUrl: HOOK }, ...run, complete('done'));
await make({ callbackUrl: HOOK }, ...run, complete(1), (id) => y.beginCallback(store, { jobId: id, series: 0 }));
await make({ callbackUrl: HOOK }, ...run, complete(2), attempt(5_000));
await make(everything, ...run, complete({}), attempt(null));
await make({ maxRetries: 0 }, ...run, fail('broken'));
await make({ maxRetries: 0, callbackUrl: HOOK }, ...run, timeOut);
await make({ callbackUrl: HOOK }, kill('enough "'));
await make({}, ...run, kill(null));

const { id: keyId, key } = await y.createKey(store, {
  name: 'golden',
  scopes: ['jobs:worker', 'jobs:read'],
  spaceId: SPACES[0],
  expiresAt: null,
});
await y.createKey(store, {
  name: 'all',
  scopes: ['keys:manage'],
  spaceId: null,
  expiresAt: '2100-01-01T00:00:00.000Z',
});
await y.markStep(store, y.partitionOf(SPACES[2]), 0);

/** Return the command that creates a key with its current value. */
async function commandOf(name) {
  const type = await redis.type(name);
  if (type === 'string') return ['SET', name, await redis.get(name)];
  if (type === 'hash') return ['HSET', name, ...Object.entries(await redis.hgetall(name)).flat()];
  if (type === 'list') return ['RPUSH', name, ...(await redis.lrange(name, 0, -1))];
  const flat = await redis.zrange(name, 0, -1, 'WITHSCORES');
  return ['ZADD', name, ...flat.flatMap((word, i) => (i % 2 === 0 ? [flat[i + 1], word] : []))];
}

/** Return what this release returns for a space. */
async function shownOf(spaceId) {
  const ids = await redis.zrange(store.keys.jobs(spaceId), 0, -1);
  const query = { mode: 'latest', bound: null, limit: 100, levels: null, terms: [] };
  const jobs = [];
  for (const id of ids) {
    const { logs: entries } = await y.readLogs(store, ANY, id, query);
    jobs.push({ job: await y.getJob(store, ANY, id), logs: entries });
  }
  const { jobs: counts, names } = await y.getStats(store, spaceId, { limit: 100, names: [] });
  const named = names.map(({ name, total, pending }) => ({ name, total, pending }));
  return { spaceId, jobs, counts, names: named, queue: await redis.zrange(store.keys.queue(spaceId), 0, -1) };
}

// Wait, so that every callback is due when the dump is read, also the one in progress.
await new Promise((resolve) => setTimeout(resolve, y.CALLBACK_LEASE_MS + 1_000));
const names = (await redis.keys(`${PREFIX}:*`)).sort();
const dump = {
  version,
  prefix: PREFIX,
  key: { id: keyId, text: key, spaceId: SPACES[0] },
  spaces: await Promise.all(SPACES.map(shownOf)),
  commands: await Promise.all(names.map(commandOf)),
};
const line = (value) => JSON.stringify(value);
const list = (values) => `[\n${values.map(line).join(',\n')}\n]`;
const fields = Object.entries(dump).map(
  ([name, value]) => `${line(name)}: ${Array.isArray(value) ? list(value) : line(value)}`,
);
writeFileSync(join(root, 'test/golden', `${version}.json`), `{\n${fields.join(',\n')}\n}\n`);
process.stdout.write(`test/golden/${version}.json: ${names.length} keys\n`);

redis.disconnect();
await server.stop();
rmSync(dataDir, { recursive: true, force: true });
