import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { STANDALONE_VARIABLES } from '@yardmaster/standalone';
import { createStandalone } from '../../apps/standalone/src/standalone.js';
import { LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';
import { isAlive, readyLineIn, redisPidOf, withStandalones } from '../support/standalone.js';
import { until } from '../support/until.js';

/** As short as an admin key may be: 32 characters. */
const OWN_KEY = 'a-key-of-my-own-choice-just-long';

const { dataDir, launch, start } = withStandalones();

it('the standalone on a terminal prints its key and a command that works when pasted', async () => {
  let output = '';
  const print = (text: string) => {
    output += text;
  };
  const config = readConfig({ ...LONG_REDIS_TIMEOUT, PORT: '0', DATA_DIR: dataDir() }, STANDALONE_VARIABLES);
  const log = createLogger('test', 'silent');
  const standalone = createStandalone({ config, log, cacheDir: join(dataDir(), 'cache'), print });
  try {
    await standalone.start();
    const line = /^\s+(curl .+)$/m.exec(output)?.[1] as string;
    const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] });
    let pasted = '';
    shell.stdout.on('data', (chunk) => (pasted += chunk));
    await once(shell, 'close');
    expect(JSON.parse(pasted)).toMatchObject({ name: 'hello', spaceId: 'demo', status: 'pending' });
    const dashboard = /^\s+Dashboard +(\S+)$/m.exec(output)?.[1] as string;
    expect((await fetch(dashboard)).headers.get('content-type')).toBe('text/html; charset=utf-8');
    const key = (await readFile(join(dataDir(), 'admin-key'), 'utf8')).trim();
    expect(/Admin key +(\S+)$/m.exec(output)?.[1]).toBe(key);
  } finally {
    await standalone.stop(10_000);
  }
});

it('the standalone without a terminal logs where its key is, and keeps the key and jobs across a restart', async () => {
  const first = await start();
  const file = join(dataDir(), 'admin-key');
  expect(readyLineIn(first.output())).toMatchObject({ url: first.url, adminKeyFile: file, dataDir: dataDir() });
  for (const line of first.output().trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ app: 'yardmaster' });
  expect(first.output()).not.toContain(first.key);
  const job = (await first.call('POST', '/spaces/demo/jobs', { name: 'hello' })).body;

  // Only the owner can read the key, or connect to Redis.
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readFile(file, 'utf8')).trim()).toBe(first.key);
  const socket = join(dataDir(), 'redis/redis.sock');
  expect((await stat(socket)).mode & 0o077).toBe(0);

  const pid = await redisPidOf(dataDir());
  expect(await first.stop('SIGINT')).toBe(0);
  await until(() => !isAlive(pid));
  expect(existsSync(socket)).toBe(false);

  const second = await start();
  expect(second.key).toBe(first.key);
  expect((await second.call('GET', `/jobs/${job.id}`)).body).toMatchObject({ id: job.id, status: 'pending' });
  expect(await second.stop()).toBe(0);
});

it('the standalone uses REDIS_URL, ADMIN_API_KEY and HOST, and starts no Redis', async () => {
  const standalone = await start({
    REDIS_URL: sharedService().redisUrl,
    ADMIN_API_KEY: OWN_KEY,
    HOST: '127.0.0.2',
    KEY_PREFIX: `t-${process.pid}`,
    UI: 'false',
  });
  expect(standalone.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  // The operator knows the key, and others may read the output.
  expect(standalone.output()).not.toContain(OWN_KEY);
  expect(readyLineIn(standalone.output())).toMatchObject({ adminKeyFile: null, dataDir: null });
  expect((await standalone.call('POST', '/spaces/x/jobs', { name: 'work' })).status).toBe(201);
  expect(existsSync(dataDir())).toBe(false);
  expect(await standalone.stop()).toBe(0);
});

it('the standalone refuses to start on an invalid configuration and lists each fault once', async () => {
  const faulty = { REDIS_URL: 'http://x', PORT: 'eighty', CALLBACK_SIGNING_SECRET: 'whsec_', LOG_LEVEL: 'loud' };
  const { ended, output } = launch({ ...faulty, ADMIN_API_KEY: OWN_KEY.slice(1) });
  expect(await ended()).toBe(1);
  const named = [...output().matchAll(/^ {2}([A-Z_]+) must be /gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(Object.keys(faulty).sort());
  expect(output()).toContain('ADMIN_API_KEY must have at least 32 characters');
});

it('a standalone that cannot store its admin key names the variables that help', async () => {
  // Even root cannot write a file where there is a folder.
  await mkdir(join(dataDir(), 'admin-key.new'), { recursive: true });
  const { ended, output } = launch({ REDIS_URL: sharedService().redisUrl });
  expect(await ended()).toBe(1);
  expect(output()).toMatch(
    /^The admin key could not be stored \(EISDIR.*\)\. Set DATA_DIR to .*, or set ADMIN_API_KEY\.$/m,
  );
});

it.each([
  [
    'replaces an admin key in its data folder that is too short, and logs that it did',
    OWN_KEY.slice(1),
    /^ym_admin_[0-9a-f]{64}$/,
  ],
  ['keeps an admin key in its data folder that is long enough', OWN_KEY, new RegExp(`^${OWN_KEY}$`)],
])('the standalone %s', async (_, written, key) => {
  const file = join(dataDir(), 'admin-key');
  await mkdir(dataDir(), { recursive: true });
  await writeFile(file, `${written}\n`);
  const standalone = await start();
  expect(standalone.key).toMatch(key);
  expect((await readFile(file, 'utf8')).trim()).toBe(standalone.key);
  expect(standalone.output().includes(`The admin key in ${file} has fewer than 32 characters,`)).toBe(
    written !== OWN_KEY,
  );
  expect((await standalone.call('GET', '/spaces/x/jobs')).status).toBe(200);
  expect(await standalone.stop()).toBe(0);
});
