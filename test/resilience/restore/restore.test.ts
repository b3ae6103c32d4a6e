import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { PrivateRedis } from '@yardmaster/redis';
import { endAll, yardmaster } from '../../cli/yardmaster.js';
import { createJob, jobIn } from '../../support/jobs.js';
import { startService, type TestService } from '../../support/service.js';
import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import { makeShell, type Shell, STEPS } from './commands.js';
import { type Restored, startRestored } from './restored.js';

let shell: Shell;
let root: string;
beforeAll(async () => {
  shell = await makeShell();
  root = await mkdtemp(join(tmpdir(), 'yardmaster-restore-'));
});
afterEach(endAll);
afterAll(async () => {
  await shell.remove();
  await rm(root, { recursive: true, force: true });
});

const redisIn = (dir: string, settings: Record<string, string> = {}) =>
  new PrivateRedis({ binary: shell.binary, dataDir: dir, settings });
const socketOf = ({ url }: PrivateRedis) => url.slice('unix://'.length);

type Call = Restored['call'];
const callsOf =
  (service: TestService): Call =>
  (method, path, body) =>
    service.call(method, path, { body }) as never;

/** Longer than a restore takes, so that a job that was delivered at the backup can still be acked. */
const ENV = { DELIVERY_TIMEOUT_SECONDS: '10' };

/** Pending jobs: enough for a continuous load, and few enough to be completed soon. */
const BACKLOG = 100;

/** Create jobs and work on them until `stop` is called. */
function load(call: Call) {
  const created: string[] = [];
  let completed = 0;
  let isOver = false;
  const produce = async () => {
    while (!isOver) {
      if (created.length - completed > BACKLOG) {
        await delay(5);
        continue;
      }
      const { status, body } = await call('POST', '/spaces/load/jobs', {
        name: 'work',
        timeoutSeconds: 2,
        maxRetries: 9,
      });
      if (status === 201) created.push(body.id);
    }
  };
  const work = async () => {
    while (!isOver) completed += await workOnce(call, 'load');
  };
  const all = Promise.all([produce(), produce(), work()]);
  return {
    created,
    stop: () => {
      isOver = true;
      return all;
    },
  };
}

/** Poll, ack and complete. @returns how many were completed */
async function workOnce(call: Call, space: string): Promise<number> {
  const { body } = await call('POST', `/spaces/${space}/jobs/poll`, { count: 10 });
  let completed = 0;
  for (const { id } of body.jobs) {
    if ((await call('POST', `/jobs/${id}/ack`)).status !== 200) continue;
    if ((await call('POST', `/jobs/${id}/complete`, { result: 1 })).status === 200) completed++;
  }
  return completed;
}

/** Take a backup under load, and return the jobs that existed before it began. */
async function backUpUnderLoad(steps: string, backup: string, dir: string) {
  await mkdir(backup);
  const redis = redisIn(dir);
  await redis.start();
  const service = await startService(ENV, { redis });
  const call = callsOf(service);
  try {
    const key = await service.key(['jobs:read']);
    const running = load(call);
    const kept = {
      // Its worker keeps it through the backup and the restore.
      running: await jobIn(service, 'running', 'kept'),
      // Not acked before the restore.
      delivered: await jobIn(service, 'delivered', 'kept', { name: 'delivered' }),
      // Claimed and acked after the backup.
      later: (await createJob(service, 'kept', { name: 'later' })).id,
    };
    await until(() => running.created.length > 150);
    const before = [...running.created];
    await shell.run(steps, { socket: socketOf(redis), dir, backup });
    await until(() => running.created.length > before.length); // The load has not stopped.
    for (const verb of ['claim', 'ack']) await call('POST', `/jobs/${kept.later}/${verb}`);
    const lost = (await createJob(service, 'kept')).id;
    await running.stop();
    return { before, kept, lost, key, prefix: service.prefix };
  } finally {
    await service.stop().finally(() => redis.stop());
  }
}

async function fsck(redisUrl: string, prefix: string) {
  const run = yardmaster(['fsck'], { REDIS_URL: redisUrl, KEY_PREFIX: prefix });
  return { code: await run.exit(), summary: run.out().split('\n').at(-2), err: run.err() };
}
const CLEAN = { code: 0, summary: 'No faults found.', err: '' };

/** Work until each of these jobs has ended. */
async function workOff(call: Call, ids: string[]): Promise<string[]> {
  const statuses = new Map<string, string>();
  await until(async () => {
    await workOnce(call, 'load');
    for (const id of ids.filter((each) => statuses.get(each) !== 'completed')) {
      const { status, body } = await call('GET', `/jobs/${id}`);
      statuses.set(id, status === 200 ? body.status : String(status));
    }
    return ids.every((id) => !['pending', 'delivered', 'running'].includes(statuses.get(id) as string));
  }, 40_000);
  return [...new Set(statuses.values())];
}

/** Expect that a service works on the restored data. */
async function expectGoingOn(restored: Restored, made: Awaited<ReturnType<typeof backUpUnderLoad>>): Promise<void> {
  const { before, kept, lost } = made;
  const { call } = restored;
  expect((await call('GET', `/jobs/${lost}`)).status).toBe(404);

  // A worker that kept a job through the restore can complete it, and watchers see that.
  const stream = await StreamClient.open(restored.gatewayUrl, `/${kept.running}?token=${made.key.key}`);
  expect(stream.messages[0]).toMatchObject({ type: 'init', status: 'running' });
  expect((await call('POST', `/jobs/${kept.running}/complete`, { result: 'kept' })).status).toBe(200);
  expect(await stream.next('completed')).toMatchObject({ data: 'kept' });
  await stream.close();
  // A worker that began after the backup gets 409, because the job is pending again.
  const refused = await call('POST', `/jobs/${kept.later}/complete`, { result: 1 });
  expect([refused.status, refused.body]).toEqual([409, expect.objectContaining({ jobStatus: 'pending' })]);
  // A delivered job may still be acked within its window, but only once.
  const acks = [await call('POST', `/jobs/${kept.delivered}/ack`), await call('POST', `/jobs/${kept.delivered}/ack`)];
  expect([200, 409]).toContain(acks[0]?.status);
  expect(acks[1]?.status).toBe(409);

  expect(await workOff(call, before)).toEqual(['completed']);
}

it.each([
  [
    'a snapshot',
    STEPS.takeSnapshot,
    async (backup: string, dir: string) => {
      await copyFile(join(backup, 'dump.rdb'), join(dir, 'dump.rdb'));
      const redis = redisIn(dir, { appendonly: 'no' });
      await redis.start();
      await shell.run(STEPS.beginAppendOnly, { socket: socketOf(redis), dir, backup });
      await redis.stop();
    },
  ],
  [
    'a copy of the append-only files',
    STEPS.copyAppendOnly,
    (backup: string, dir: string) => cp(join(backup, 'appendonlydir'), join(dir, 'appendonlydir'), { recursive: true }),
  ],
])(
  'the service continues from %s taken under load, and loses no earlier job',
  async (name, steps, restore) => {
    const [backup, source, target] = ['backup', 'source', 'target'].map((part) =>
      join(root, `${name.replaceAll(' ', '-')}-${part}`),
    );
    const made = await backUpUnderLoad(steps, backup as string, source as string);

    await mkdir(target as string);
    await restore(backup as string, target as string);
    const redis = redisIn(target as string);
    await redis.start();
    try {
      expect(await fsck(redis.url, made.prefix)).toEqual(CLEAN);
      const restored = await startRestored({ ...ENV, REDIS_URL: redis.url, KEY_PREFIX: made.prefix });
      await expectGoingOn(restored, made).finally(() => restored.stop());
      expect(await fsck(redis.url, made.prefix)).toEqual(CLEAN);
    } finally {
      await redis.stop();
    }
  },
  120_000,
);
