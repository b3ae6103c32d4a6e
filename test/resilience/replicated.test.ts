import { once } from 'node:events';
import net from 'node:net';
import { expect, it } from '@jest/globals';
import { ReplicatedConnections } from '@yardmaster/redis';
import { createStore } from '@yardmaster/store';
import { connectTo } from '../support/connect.js';
import { during } from '../support/during.js';
import { step } from '../support/jobs.js';
import { ask, info } from '../support/redis/ask.js';
import { startNode } from '../support/redis/node.js';
import { startService, withService } from '../support/service.js';
import { until } from '../support/until.js';

// A primary and a replica, whose link can fail. The service knows only the primary.

const primary = during(
  () => startNode({ lines: (port) => [`port ${port}`] }),
  (node) => node.stop(),
);
const link = during(
  () => startLink(primary.port),
  (started) => started.stop(),
);
const replica = during(
  () => startNode({ lines: (port) => [`port ${port}`, `replicaof 127.0.0.1 ${link.port}`, 'repl-timeout 2'] }),
  (node) => node.stop(),
);
/** Listen for a replica, and pass on its bytes and those of its primary, except while the link is dark. */
async function startLink(primaryPort: number) {
  const sockets = new Set<net.Socket>();
  let isDark = false;
  const started = {
    port: 0,
    setDark(value: boolean) {
      isDark = value;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      started.cut();
      server.close();
      await once(server, 'close');
    },
  };
  const server = net.createServer((socket) => {
    const other = net.connect(primaryPort, '127.0.0.1');
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (bytes) => isDark || to.write(bytes));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  started.port = (server.address() as net.AddressInfo).port;
  return started;
}

const redis = {
  get url() {
    return `redis://127.0.0.1:${primary.port}`;
  },
};
const SETTINGS = { REDIS_TIMEOUT_SECONDS: '0.5', KEY_PREFIX: 'replicated' };
const service = withService({ ...SETTINGS, DURABILITY: 'replicated' }, { redis, app: 'api', check: false });

const isInSync = async () => {
  const [of, at] = await Promise.all([info(primary, 'replication'), info(replica, 'replication')]);
  return at.master_link_status === 'up' && of.master_repl_offset === at.slave_repl_offset;
};

/** Let the link work, until the replica has everything. */
async function connectReplica(): Promise<void> {
  link.setDark(false);
  link.cut();
  await until(isInSync);
}

/** Kill the primary, and return the statuses that these jobs have on the replica; then both are as before. */
async function afterFailover(ids: readonly string[]): Promise<(string | null)[]> {
  await primary.kill();
  await ask(replica, 'REPLICAOF', 'NO', 'ONE');
  const connection = connectTo(`redis://127.0.0.1:${replica.port}`);
  const { keys } = createStore(connection, { keyPrefix: SETTINGS.KEY_PREFIX });
  const states = await Promise.all(ids.map((id) => connection.hget(keys.job(id), 'state')));
  connection.disconnect();
  await primary.resume();
  await ask(replica, 'REPLICAOF', '127.0.0.1', link.port);
  return states.map((state) => state?.split(' ')[0] ?? null);
}

const create = (headers = {}) => service.call('POST', '/spaces/a/jobs', { body: { name: 'work' }, headers });
const UNKNOWN = expect.objectContaining({ status: 503, body: expect.objectContaining({ code: 'UNAVAILABLE' }) });

/** Create jobs with some producers until it is enough. @returns ids of those that succeeded */
async function createUntil(isEnough: () => boolean, on = service): Promise<string[]> {
  const created: string[] = [];
  const producer = async () => {
    while (!isEnough()) {
      const { status, body } = await on
        .call('POST', '/spaces/a/jobs', { body: { name: 'work' } })
        .catch(() => ({ status: 0, body: null }));
      if (status === 201) created.push(body.id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, producer));
  return created;
}

it('loses no acknowledged job in twenty failovers while the replica is cut off', async () => {
  for (let round = 0; round < 20; round++) {
    await connectReplica();
    await until(async () => (await create()).status === 201);
    let isOver = false;
    const creating = createUntil(() => isOver);
    await until(async () => (await create()).status === 201);
    link.setDark(true);
    await until(async () => (await create()).status === 503);
    const states = creating.then(async (created) => ({ created, states: await afterFailover(created) }));
    isOver = true;
    const { created, states: found } = await states;
    expect(created.length).toBeGreaterThan(0);
    expect(found.filter((state) => state === null)).toEqual([]);
  }
}, 300_000);

it('DURABILITY=local acknowledges jobs that a failover loses', async () => {
  await connectReplica();
  const local = await startService(SETTINGS, { redis, app: 'api', check: false });
  link.setDark(true);
  let calls = 0;
  const created = await createUntil(() => ++calls > 50, local);
  expect(created.length).toBeGreaterThan(20);
  expect((await afterFailover(created)).filter((state) => state === null)).not.toEqual([]);
  await local.stop();
});

it('a retry of an unconfirmed call is refused until a replica has the writes of the first call', async () => {
  await connectReplica();
  await until(async () => (await create()).status === 201);
  link.setDark(true);
  const key = { 'idempotency-key': 'repeated' };
  expect(await create(key)).toEqual(UNKNOWN);
  expect(await create(key)).toEqual(UNKNOWN);
  await connectReplica();
  const repeated = await create(key);
  expect([repeated.status, repeated.headers['idempotent-replayed']]).toEqual([201, 'true']);
  expect(await afterFailover([repeated.body.id])).not.toContain(null);
});

it('writes beyond one per connection fail without being sent while the replica is cut off', async () => {
  await connectReplica();
  const connections = new ReplicatedConnections(() => connectTo(redis.url), 3_000);
  const write = async () =>
    (await connections.write('{replicated}:barrier', (connection) => connection.incr('{replicated}:sent'))).confirmed;
  const writeAll = () => Promise.all(Array.from({ length: 100 }, () => write().catch((error) => error.code)));
  expect(await writeAll()).toEqual(Array(100).fill(undefined));
  link.setDark(true);
  expect(await writeAll()).toEqual(Array(100).fill('UNAVAILABLE'));
  expect(await ask(primary, 'GET', '{replicated}:sent')).toBe('132');
  connections.end();
});

it('changes to a job wait for a replica and are already in the audit; claims and heartbeats do not wait', async () => {
  await connectReplica();
  await until(async () => (await create()).status === 201);
  const jobs = await Promise.all(
    Array.from({ length: 8 }, () => service.call('POST', '/spaces/b/jobs', { body: { name: 'work' } })),
  );
  const ids = jobs.map(({ body }) => body.id as string);
  const running = ids.slice(0, 4) as [string, string, string, string];
  for (const id of running) {
    await service.call('POST', `/jobs/${id}/claim`);
    await step(service, id, 'ack');
  }
  link.setDark(true);
  const [completed, failed, released, killed] = running;
  expect((await service.call('POST', '/spaces/b/jobs/poll', { body: { count: 1 } })).body.jobs).toHaveLength(1);
  for (const verb of ['keepalive', 'checkpoint'])
    expect((await service.call('POST', `/jobs/${completed}/${verb}`, { body: { data: 1 } })).status).toBe(200);
  const post = (path: string, body: object = {}) => service.call('POST', path, { body });
  const [pending] = ids.slice(-1) as [string];
  const changes = [
    () => post(`/jobs/${completed}/complete`),
    () => post(`/jobs/${failed}/fail`, { error: 'no' }),
    () => post(`/jobs/${released}/release`),
    () => post(`/jobs/${killed}/kill`),
    () => post(`/jobs/${pending}/reschedule`, { delaySeconds: 60 }),
    () => post(`/jobs/${killed}/requeue`),
    () => post(`/jobs/${completed}/copy`),
    () => service.call('DELETE', `/jobs/${completed}`),
    () => post('/spaces/b/jobs/settle', { outcomes: [{ action: 'complete', jobId: released }] }),
    () => post('/spaces/b/jobs', [{ name: 'one' }, { name: 'two' }] as never),
    () => post('/spaces/b/operations', { action: 'kill', filter: { status: 'pending' } }),
  ];
  for (const change of changes)
    expect({ change: String(change), response: await change() }).toEqual({ change: String(change), response: UNKNOWN });
  const { body: audit } = await service.call('GET', '/audit?limit=6');
  expect(audit.entries.map(({ action }: { action: string }) => action)).toEqual([
    'operation.start',
    'job.delete',
    'job.copy',
    'job.requeue',
    'job.reschedule',
    'job.kill',
  ]);
});
