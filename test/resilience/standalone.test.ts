import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { during } from '../support/during.js';
import { hasEnded, type RunningProcess } from '../support/process.js';
import { isAlive, readyLineIn, redisPidOf, withStandalones } from '../support/standalone.js';
import { until } from '../support/until.js';

const { dataDir, launch, start } = withStandalones();

it.each([
  ['with the same data folder', '', ''],
  ['with a folder whose path is too long for a socket', 'x'.repeat(100), 'x'.repeat(100)],
  ['with another name of the same folder', 'link/data', 'real/data'],
])(
  'the standalone recovers after SIGKILL with every job that it had confirmed, %s',
  async (_, firstName, secondName) => {
    await mkdir(join(dataDir(), 'real'), { recursive: true });
    await symlink(join(dataDir(), 'real'), join(dataDir(), 'link'));
    const folders = [join(dataDir(), firstName), join(dataDir(), secondName)] as const;
    const first = await start({ DATA_DIR: folders[0] });
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await first.call('POST', '/spaces/crash/jobs', { name: 'work' })).body.id);
    const { redisPid } = JSON.parse(await readFile(join(folders[0], 'redis/owner-1.json'), 'utf8'));
    await first.stop('SIGKILL');
    expect(isAlive(redisPid)).toBe(true);

    const second = await start({ DATA_DIR: folders[1] });
    expect(isAlive(redisPid)).toBe(false);
    const { body } = await second.call('GET', '/spaces/crash/jobs');
    expect(body.map(({ id }: { id: string }) => id)).toEqual(ids.reverse());
  },
);

it('the standalone restarts its redis-server after a crash with every job that it had confirmed', async () => {
  const { call, stop } = await start();
  const { id } = (await call('POST', '/spaces/crash/jobs', { name: 'work' })).body;
  const pid = await redisPidOf(dataDir());
  process.kill(pid, 'SIGKILL');
  await until(async () => (await call('GET', `/jobs/${id}`)).status === 200);
  expect(await redisPidOf(dataDir())).not.toBe(pid);
  expect(await stop()).toBe(0);
});

it('the standalone creates a new admin key if the file of the key is empty', async () => {
  await mkdir(dataDir(), { recursive: true });
  await writeFile(join(dataDir(), 'admin-key'), '');
  const { key, call } = await start();
  expect(key).toMatch(/^ym_admin_[0-9a-f]{64}$/);
  expect((await call('GET', '/spaces/x/jobs')).status).toBe(200);
});

it.each([[['SIGHUP']], [['SIGTERM', 'SIGINT']]] as NodeJS.Signals[][][])(
  'the standalone stops its redis-server on %j',
  async (signals) => {
    const { child, ended } = await start();
    const pid = await redisPidOf(dataDir());
    for (const signal of signals) child.kill(signal);
    expect(await ended()).toBe(0);
    await until(() => !isAlive(pid));
  },
);

it('the standalone refuses a data folder that another standalone uses, and does not disturb that one', async () => {
  const first = await start();
  await rm(join(dataDir(), 'admin-key')); // A new key would now be written into the folder of the other standalone.
  const { ended, output } = launch();
  expect(await ended()).toBe(1);
  expect(output()).toContain(`is in use by process ${first.child.pid}`);
  expect(await readdir(dataDir())).not.toContain('admin-key');
  expect((await first.call('GET', '/spaces/x/jobs')).status).toBe(200);
});

it('exactly one of four standalones that start concurrently after a crash serves, and the others refuse', async () => {
  await mkdir(join(dataDir(), 'redis'), { recursive: true });
  await writeFile(join(dataDir(), 'redis/owner-1.json'), JSON.stringify({ pid: 2 ** 30 })); // No process has this id.
  const rivals = [1, 2, 3, 4].map(() => launch());
  await until(() => rivals.filter(hasEnded).length === 3);
  const winner = rivals.find((rival) => !hasEnded(rival)) as RunningProcess;
  await until(() => readyLineIn(winner.output()) !== null);
  for (const { output, ended } of rivals.filter((rival) => rival !== winner)) {
    expect(await ended()).toBe(1);
    expect(output()).toMatch(/is in use by process \d+|is being taken by several processes at once/);
  }
});

it('the standalone refuses to start on a port in use, and leaves no socket of Redis', async () => {
  const { port } = new URL((await start()).url);
  const otherDir = `${dataDir()}-2`;
  const { ended, output } = launch({ PORT: port, DATA_DIR: otherDir });
  expect(await ended()).toBe(1);
  expect(output()).toContain(`EADDRINUSE: address already in use 127.0.0.1:${port}`);
  expect(existsSync(join(otherDir, 'redis/redis.sock'))).toBe(false);
});

it('the standalone finishes open requests before it exits', async () => {
  const { url, key, child, output, call, ended } = await start();
  // Half a request: the rest follows after the stop has begun.
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = '{"name":"late"}';
  const head = `POST /api/v1/spaces/drain/jobs HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n{"name"`);
  let response = '';
  socket.on('data', (chunk) => (response += chunk));
  await call('GET', '/spaces/drain/jobs');
  child.kill('SIGTERM');
  await until(() => /"stopping"/.test(output()));
  // Under npm, one Ctrl-C arrives twice, and the second signal must not cut the request.
  child.kill('SIGINT');
  socket.write(body.slice('{"name"'.length));
  await until(() => /\r\n\r\n\{/.test(response));
  expect(response).toMatch(/^HTTP\/1\.1 201/);
  expect(await ended()).toBe(0);
});

const RIVAL = fileURLToPath(new URL('rival.mjs', import.meta.url));
const FOLDERS = 150;
/** An id of no process, above the highest that the kernel assigns. */
const GONE = 2 ** 30;

const race = during(
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'yardmaster-rivals-'));
    const rivals = [1, 2, 3, 4].map(() => fork(RIVAL, { execArgv: [] }));
    await Promise.all(rivals.map((rival) => once(rival, 'message')));
    return { root, rivals };
  },
  async ({ root, rivals }) => {
    for (const rival of rivals) rival.disconnect();
    await rm(root, { recursive: true, force: true });
  },
);

/** Count the processes that get a folder which all of them claim concurrently. */
async function winnersOf(folder: string): Promise<number> {
  const has = (rival: ChildProcess) => once(rival, 'message') as Promise<[{ has: boolean }]>;
  const responses = race.rivals.map(has);
  for (const rival of race.rivals) rival.send(folder);
  return (await Promise.all(responses)).filter(([response]) => response.has).length;
}

// Many times, because a race between two processes happens only sometimes.
it.each<[what: string, pids: (number | null)[]]>([
  ['never had an owner', []],
  ['has an owner that crashed', [GONE]],
  ['was released', [null]],
  ['has two owners that crashed, the second one during its cleanup', [GONE, GONE]],
])('exactly one of several concurrent processes gets a data folder that %s', async (_, pids) => {
  for (let i = 0; i < FOLDERS; i++) {
    const folder = await mkdtemp(join(race.root, 'folder-'));
    for (const [n, pid] of pids.entries())
      await writeFile(join(folder, `owner-${n + 1}.json`), JSON.stringify({ pid }));
    expect(await winnersOf(folder)).toBe(1);
  }
});
