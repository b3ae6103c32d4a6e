import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Answer, HttpClient } from '../support/http.js';
import { runApp } from '../support/process.js';
import { until } from '../support/until.js';

let dataDir: string;
const started: ChildProcess[] = [];
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'yardmaster-standalone-')), 'data');
});
afterEach(async () => {
  // Gently, so that each takes its redis-server along.
  await Promise.all(started.splice(0).map((child) => child.exitCode ?? child.signalCode ?? stop({ child }, 'SIGTERM')));
  await rm(join(dataDir, '..'), { recursive: true, force: true });
});

interface Standalone {
  child: ChildProcess;
  url: string;
  key: string;
  output: () => string;
}

function launch(env: Record<string, string> = {}) {
  const app = runApp('standalone', { PORT: '0', DATA_DIR: dataDir, ...env });
  started.push(app.child);
  return app;
}

async function start(env: Record<string, string> = {}): Promise<Standalone> {
  const { child, output } = launch(env);
  await until(() => /ready at/.test(output()) || child.exitCode !== null, 60_000);
  const url = /ready at (\S+)/.exec(output())?.[1];
  const key = env.ADMIN_API_KEY ?? /Admin key\s+(\S+)/.exec(output())?.[1];
  if (!url || !key) throw new Error(output());
  return { child, url, key, output };
}

async function stop({ child }: { child: ChildProcess }, signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
  const exited = once(child, 'exit');
  child.kill(signal);
  return (await exited)[0];
}

async function call({ url, key }: Standalone, method: string, path: string, body?: unknown): Promise<Answer> {
  const client = new HttpClient(url);
  try {
    return await client.call(method, `/api/v1${path}`, { key, body });
  } finally {
    client.close();
  }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Process id of the private redis-server, by its own word. */
async function redisPid(): Promise<number> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(join(dataDir, 'redis/redis.sock'), { disconnectTimeout: 50 });
  const info = await redis.info('server');
  redis.disconnect();
  return Number(/process_id:(\d+)/.exec(info)?.[1]);
}

it('serves, prints a line that works when pasted, and is itself again after a restart', async () => {
  const first = await start();
  const line = /^\s+(curl .+)$/m.exec(first.output())?.[1] as string;
  const shell = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] });
  let pasted = '';
  shell.stdout.on('data', (chunk) => (pasted += chunk));
  await once(shell, 'close');
  const job = JSON.parse(pasted);
  expect(job).toMatchObject({ name: 'hello', spaceId: 'demo', status: 'pending' });
  const pid = await redisPid();

  expect(await stop(first)).toBe(0);
  await until(() => !isAlive(pid));
  expect(existsSync(join(dataDir, 'redis/redis.sock'))).toBe(false);

  const second = await start();
  expect(second.key).toBe(first.key);
  expect((await call(second, 'GET', `/jobs/${job.id}`)).body).toMatchObject({ id: job.id, status: 'pending' });
  expect(await stop(second, 'SIGTERM')).toBe(0);
});

it('keeps its admin key where only its owner can read it', async () => {
  const standalone = await start();
  const file = join(dataDir, 'admin-key');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readFile(file, 'utf8')).trim()).toBe(standalone.key);
  expect((await stat(join(dataDir, 'redis/redis.sock'))).mode & 0o077).toBe(0);
});

it('takes over after a kill -9, with every job that was answered', async () => {
  const first = await start();
  const ids = [];
  for (let i = 0; i < 20; i++) ids.push((await call(first, 'POST', '/spaces/crash/jobs', { name: 'work' })).body.id);
  const left = await redisPid();
  await stop(first, 'SIGKILL');

  const second = await start();

  expect(await redisPid()).not.toBe(left);
  const { body } = await call(second, 'GET', '/spaces/crash/jobs');
  expect(body.map(({ id }: { id: string }) => id)).toEqual(ids.reverse());
});

it('starts its redis-server again when that crashes, with every job that was answered', async () => {
  const standalone = await start();
  const { id } = (await call(standalone, 'POST', '/spaces/crash/jobs', { name: 'work' })).body;
  process.kill(await redisPid(), 'SIGKILL');
  await until(async () => (await call(standalone, 'GET', `/jobs/${id}`)).status === 503);
  await until(async () => (await call(standalone, 'GET', `/jobs/${id}`)).status === 200);
  expect(await stop(standalone)).toBe(0);
});

it('works from a data folder whose path is too long for a socket, also after a kill -9', async () => {
  const long = { DATA_DIR: join(dataDir, 'x'.repeat(100)) };
  const first = await start(long);
  const { id } = (await call(first, 'POST', '/spaces/long/jobs', { name: 'work' })).body;
  const { redisPid: left } = JSON.parse(await readFile(join(long.DATA_DIR, 'redis/owner-1.json'), 'utf8'));
  await stop(first, 'SIGKILL');
  expect(isAlive(left)).toBe(true);
  const second = await start(long);
  expect(isAlive(left)).toBe(false);
  expect((await call(second, 'GET', `/jobs/${id}`)).status).toBe(200);
});

it('takes over after a kill -9 by another name of the same folder, and deletes nothing', async () => {
  await mkdir(join(dataDir, 'real'), { recursive: true });
  await symlink(join(dataDir, 'real'), join(dataDir, 'link'));
  const first = await start({ DATA_DIR: join(dataDir, 'link/data') });
  const { id } = (await call(first, 'POST', '/spaces/link/jobs', { name: 'work' })).body;
  await stop(first, 'SIGKILL');
  const second = await start({ DATA_DIR: join(dataDir, 'real/data') });
  expect((await call(second, 'GET', `/jobs/${id}`)).status).toBe(200);
});

it('lets only one of several that start at once have a data folder', async () => {
  // Each has to clear away what a crash left, which is where they meet.
  await mkdir(join(dataDir, 'redis'), { recursive: true });
  await writeFile(join(dataDir, 'redis/owner-1.json'), JSON.stringify({ pid: 2 ** 30 }));
  const rivals = [1, 2, 3, 4].map(() => launch());
  const settled = ({ child, output }: ReturnType<typeof launch>) =>
    child.exitCode !== null || /ready at/.test(output());
  await until(() => rivals.every(settled), 60_000);
  expect(rivals.filter(({ child }) => child.exitCode === null)).toHaveLength(1);
}, 60_000);

it('makes a new admin key when the file was left empty', async () => {
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'admin-key'), '');
  const standalone = await start();
  expect(standalone.key).toMatch(/^ym_admin_[0-9a-f]{64}$/);
  expect((await call(standalone, 'GET', '/spaces/x/jobs')).status).toBe(200);
});

it('takes its redis-server along when the terminal goes away and when it is told twice', async () => {
  for (const signals of [['SIGHUP'], ['SIGTERM', 'SIGINT']] as NodeJS.Signals[][]) {
    const standalone = await start();
    const pid = await redisPid();
    const exited = once(standalone.child, 'exit');
    for (const signal of signals) standalone.child.kill(signal);
    expect((await exited)[0]).toBe(0);
    await until(() => !isAlive(pid));
  }
});

it('does not wait for ever for a request that never ends', async () => {
  const standalone = await start({ SHUTDOWN_SECONDS: '1' });
  const pid = await redisPid();
  const { hostname, port } = new URL(standalone.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write('POST /api/v1/spaces/x/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n');
  await call(standalone, 'GET', '/spaces/x/jobs');
  expect(await stop(standalone, 'SIGTERM')).toBe(0);
  await until(() => !isAlive(pid));
  socket.destroy();
});

it('refuses a data folder that another one uses, and leaves that one alone', async () => {
  const first = await start();
  const { child, output } = launch();
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(output()).toContain(`is in use by process ${first.child.pid}`);
  expect((await call(first, 'GET', '/spaces/x/jobs')).status).toBe(200);
});

it('honours REDIS_URL, ADMIN_API_KEY and HOST, and starts no Redis of its own', async () => {
  const standalone = await start({
    REDIS_URL: process.env.TEST_REDIS_URL as string,
    ADMIN_API_KEY: 'a-key-of-my-own-choice',
    HOST: '127.0.0.2',
    KEY_PREFIX: `t-${process.pid}`,
  });
  expect(standalone.url).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  // The operator knows it, and what is printed may be kept by others.
  expect(standalone.output()).not.toContain('a-key-of-my-own-choice');
  expect((await call(standalone, 'POST', '/spaces/x/jobs', { name: 'work' })).status).toBe(201);
  expect(existsSync(dataDir)).toBe(false);
  expect(await stop(standalone)).toBe(0);
});

it('names every fault of its configuration and does not start', async () => {
  const { child, output } = launch({ PORT: 'eighty', LOG_LEVEL: 'loud', REDIS_URL: 'http://x' });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(output()).toContain('PORT must be an integer between 0 and 65535');
  expect(output()).toContain('LOG_LEVEL must be trace, debug');
  expect(output()).toContain('REDIS_URL must be redis://');
});

it('says so when its port is taken, and leaves nothing behind', async () => {
  const first = await start();
  const { port } = new URL(first.url);
  const otherDir = `${dataDir}-2`;
  const { child, output } = launch({ PORT: port, DATA_DIR: otherDir });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(output()).toContain(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
  expect(existsSync(join(otherDir, 'redis/redis.sock'))).toBe(false);
});

it('finishes the requests that are open before it ends', async () => {
  const standalone = await start();
  // Half a request: the rest follows once the stop is under way.
  const { hostname, port } = new URL(standalone.url);
  const socket = connect(Number(port), hostname);
  const body = '{"name":"late"}';
  socket.write(
    `POST /api/v1/spaces/drain/jobs HTTP/1.1\r\nHost: x\r\nx-api-key: ${standalone.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{"name"`,
  );
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk));
  await call(standalone, 'GET', '/spaces/drain/jobs');
  const exited = once(standalone.child, 'exit');
  standalone.child.kill('SIGTERM');
  await until(() => /"stopping"/.test(standalone.output()));
  // One Ctrl-C below npm comes twice, and the second must not cut the request off.
  standalone.child.kill('SIGINT');
  socket.write(body.slice('{"name"'.length));
  await until(() => /\r\n\r\n\{/.test(answer));
  expect(answer).toMatch(/^HTTP\/1\.1 201/);
  expect((await exited)[0]).toBe(0);
});
