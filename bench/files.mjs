// npm run bench:files [-- --list progress]
//
// Count the files of our own that run for a call, using V8's precise coverage. A file counts if one of its functions ran in each
// of twelve identical calls to a standalone, which excludes background work. With --list, print the files of a call.

import { mkdtemp, rm } from 'node:fs/promises';
import inspector from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findRedisServer, PrivateRedis } from '@yardmaster/redis';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { createStandalone, STANDALONE_VARIABLES } from '../apps/standalone/dist/standalone.js';
import { freePort } from './free-port.mjs';

const CALLS = 12;
const KEY = 'admin-key-of-the-bench-of-yardmaster';
const SPACE = '/spaces/files/jobs';

const { values } = parseArgs({ options: { list: { type: 'string' } } });
const cache = fileURLToPath(new URL('../.cache/redis', import.meta.url));
const dataDir = await mkdtemp(join(tmpdir(), 'yardmaster-files-'));
const redis = new PrivateRedis({ binary: await findRedisServer(cache, () => undefined), dataDir });
await redis.start();
const port = await freePort();
const env = { REDIS_URL: redis.url, ADMIN_API_KEY: KEY, PORT: `${port}`, LOG_LEVEL: 'error', DATA_DIR: dataDir };
const config = readConfig(env, STANDALONE_VARIABLES);
const service = createStandalone({
  config,
  log: createLogger('bench', 'error'),
  cacheDir: cache,
  print: () => undefined,
});
await service.start();

const session = new inspector.Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' };

async function call(method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    ...{ method, headers: HEADERS },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Return the files of our own that have run since the last call. */
async function filesRun() {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = ({ functions }) => functions.some(({ ranges: [{ startOffset, count }] }) => count > 0 && startOffset > 0);
  const own = result.filter(({ url }) => /\/(apps|packages)\/[^/]+\/dist\//.test(url) && !url.includes('node_modules'));
  return new Set(own.filter(ran).map(({ url }) => url.replace(/^.*\/((?:apps|packages)\/.*)$/, '$1')));
}

/** Return the files that run in each of the calls. `prepare` creates what a call needs. */
async function filesOf(prepare, make) {
  const prepared = [];
  for (let n = 0; n <= CALLS; n++) prepared.push(await prepare(n));
  await make(prepared[0]);
  let common;
  for (let n = 1; n <= CALLS; n++) {
    await filesRun();
    await make(prepared[n]);
    const files = await filesRun();
    common = common === undefined ? files : new Set([...common].filter((file) => files.has(file)));
  }
  return [...common].sort();
}

const create = () => call('POST', SPACE, { name: 'work', payload: { a: 1 } });
async function running() {
  const { id } = await create();
  await call('POST', `/jobs/${id}/claim`);
  await call('POST', `/jobs/${id}/ack`);
  return id;
}

const counted = {
  create: await filesOf(() => null, create),
  poll: await filesOf(create, () => call('POST', `${SPACE}/poll`, {})),
  progress: await filesOf(running, (id) => call('POST', `/jobs/${id}/progress`, { percent: 50, message: 'half' })),
  'get job': await filesOf(running, (id) => call('GET', `/jobs/${id}`)),
};
for (const [name, files] of Object.entries(counted)) process.stdout.write(`${name}: ${files.length} files\n`);
for (const file of counted[values.list] ?? []) process.stdout.write(`  ${file}\n`);

session.disconnect();
await service.stop(5_000);
await redis.stop();
await rm(dataDir, { recursive: true, force: true });
process.exit();
