import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withReceiver } from '../support/receiver.js';
import { withFleet } from '../support/schedulers.js';
import { type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';

// Schedulers do all work exactly once and never early, after any fault of Redis or of BullMQ's keys in it.

const WINDOW_MS = 3_000;
const env = { DELIVERY_TIMEOUT_SECONDS: `${WINDOW_MS / 1_000}`, CALLBACK_RETRY_DELAYS: '2' };
const redis = withRedis({ appendfsync: 'always' });
const receiver = withReceiver();
const alone = [
  withService(env, { redis, hasDefaultTimeouts: true }),
  withService(env, { redis, hasDefaultTimeouts: true }),
];
const fleet = withFleet({ schedulers: 2, env, redis });
const allServices = () => [...alone, fleet.service];

interface Event {
  type: string;
  createdAt: string;
}

/** A job with work for a scheduler. */
interface Work {
  service: TestService;
  id: string;
  /** Types of all its events at the end. */
  types: string[];
  /** Statuses of the responses to its callback. */
  statuses: number[];
  path: string;
}

interface WorkToMake {
  status: 'scheduled' | 'pending' | 'delivered' | 'running' | 'completed';
  fields?: Record<string, unknown>;
  types: string[];
  statuses?: number[];
  /** Fail the running job, with this delay. */
  retryAfterSeconds?: number;
}

let paths = 0;
async function makeWork(
  service: TestService,
  { status, fields = {}, types, statuses = [], retryAfterSeconds }: WorkToMake,
): Promise<Work> {
  const path = `/${++paths}`;
  const callbackUrl = receiver.script(path, ...statuses.map((each) => respondWith(each)));
  const callback = statuses.length > 0 ? { callbackUrl } : {};
  const id = await jobIn(service, status, `space-${paths % 4}`, { ...callback, ...fields });
  if (retryAfterSeconds) await step(service, id, 'fail', { error: 'no', retryAfterSeconds });
  return { service, id, types, statuses, path };
}

const timeOf = ({ createdAt }: Event) => Date.parse(createdAt);

interface Timed {
  events: Event[];
  timeoutSeconds: number;
  startWithinSeconds?: number;
  scheduledFor?: string;
}

/** Expect that no window, no delay and no time to start was cut short. */
function expectNothingEarly({ events, timeoutSeconds, startWithinSeconds, scheduledFor }: Timed) {
  events.forEach((event, n) => {
    const before = events[n - 1] as Event;
    if (event.type === 'ready') expect(timeOf(event)).toBeGreaterThan(Date.parse(scheduledFor as string));
    const windowMs = {
      delivery_timeout: WINDOW_MS,
      retried: scheduledFor === undefined ? timeoutSeconds * 1_000 : undefined, // else its worker failed it
      dead: (startWithinSeconds ?? timeoutSeconds) * 1_000,
    }[event.type];
    if (windowMs !== undefined) expect(timeOf(event) - timeOf(before)).toBeGreaterThan(windowMs);
  });
}

/** Wait until all work for a job is done, and expect that it was done exactly once. */
async function expectDone({ service, id, types, statuses, path }: Work): Promise<void> {
  const read = async () => {
    const { status, body } = await service.call('GET', `/jobs/${id}`);
    return status === 200 ? body : { events: [] }; // Redis may still be down.
  };
  await until(async () => (await read()).events.length >= types.length, 60_000);
  const job = await readJob(service, id);
  expect(job.events.map(({ type }: Event) => type)).toEqual(types);
  const attempts = statuses.map((status, i) => sent(status, i + 1, i + 1 < statuses.length));
  expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, attempts));
  expect(receiver.requestsTo(path)).toHaveLength(statuses.length);
  expectNothingEarly(job);
}

const RUN = ['created', 'delivered', 'acked'];
const CALLED_TWICE: WorkToMake = {
  status: 'completed',
  types: [...RUN, 'completed', 'callback_sent', 'callback_sent'],
  statuses: [503, 204],
};
const silentFor = (timeoutSeconds: number): WorkToMake => ({
  status: 'running',
  fields: { timeoutSeconds },
  types: [...RUN, 'retried'],
});
const doomedAfter = (timeoutSeconds: number): WorkToMake => ({
  status: 'running',
  fields: { timeoutSeconds, maxRetries: 0 },
  types: [...RUN, 'dead', 'callback_sent'],
  statuses: [204],
});
const scheduledIn = (delaySeconds: number): WorkToMake => ({
  status: 'scheduled',
  fields: { delaySeconds },
  types: ['created', 'ready'],
});
const retriedIn = (retryAfterSeconds: number): WorkToMake => ({
  status: 'running',
  retryAfterSeconds,
  types: [...RUN, 'retried', 'ready'],
});
const notStartedIn = (startWithinSeconds: number): WorkToMake => ({
  status: 'pending',
  fields: { startWithinSeconds },
  types: ['created', 'dead', 'callback_sent'],
  statuses: [204],
});
const NEVER_ACKED: WorkToMake = { status: 'delivered', types: ['created', 'delivered', 'delivery_timeout'] };

/** Make work of every kind, due after one second and up to `spreadMs` later. */
async function makeLoad(service: TestService, spreadMs: number): Promise<Work[]> {
  const times = (count: number, work: (timeoutSeconds: number) => WorkToMake) =>
    Promise.all(Array.from({ length: count }, (_, n) => makeWork(service, work(1 + (spreadMs * n) / count / 1_000))));
  const retried = await times(8, () => CALLED_TWICE);
  for (const { id } of retried) await until(async () => attemptsOf(await readJob(service, id)).length > 0);
  const others = await Promise.all([times(12, silentFor), times(8, doomedAfter), times(6, () => NEVER_ACKED)]);
  const waiting = await Promise.all([times(10, scheduledIn), times(8, retriedIn), times(6, notStartedIn)]);
  return [...retried, ...others.flat(), ...waiting.flat()];
}

async function wipeBullmq(): Promise<void> {
  for (const service of allServices()) {
    const keys = await keysOf(service.redis, service.store.keys.bull);
    expect(keys.length).toBeGreaterThan(5);
    await service.redis.del(keys);
  }
}

async function killRedis(): Promise<void> {
  process.kill(redis.pid(), 'SIGKILL');
  await redis.halt();
  await delay(4_000);
  await redis.resume();
}

async function pauseRedis(): Promise<void> {
  process.kill(redis.pid(), 'SIGSTOP');
  await delay(5_000);
  process.kill(redis.pid(), 'SIGCONT');
}

async function forgetScripts(): Promise<void> {
  for (let n = 0; n < 40; n++) {
    await alone[0]?.redis.script('FLUSH');
    await delay(100);
  }
}

it.each<[fault: string, inject: () => Promise<void>]>([
  ['all keys of BullMQ are lost', wipeBullmq],
  ['Redis is killed and started again', killRedis],
  ['Redis hangs', pauseRedis],
  ['Redis forgets its scripts again and again', forgetScripts],
])('schedulers do everything exactly once and never early when %s', async (_, inject) => {
  const loads = await Promise.all(allServices().map((service) => makeLoad(service, 4_000)));
  await inject();
  for (const work of loads.flat()) await expectDone(work);
});

/** Group BullMQ's keys by kind: by their names without ids of jobs and times. */
async function kindsOf({ redis: connection, store }: TestService): Promise<Map<string, string[]>> {
  const kinds = new Map<string, string[]>();
  for (const key of await keysOf(connection, store.keys.bull)) {
    const kind = key.slice(store.keys.bull.length + 1).replace(/[0-9a-f]{2}[a-z2-7]{26}-\d+|\d{13}/g, '*');
    kinds.set(kind, [...(kinds.get(kind) ?? []), key]);
  }
  return kinds;
}

it('schedulers do everything exactly once after the loss of any kind of BullMQ key', async () => {
  const lost = new Map<string, unknown>();
  /** Delete one kind after another of one service, while other services lose other kinds. */
  const loseKinds = async (service: TestService) => {
    for (;;) {
      const called = await makeWork(service, CALLED_TWICE);
      await until(async () => attemptsOf(await readJob(service, called.id)).length === 1);
      const silent = await makeWork(service, silentFor(0.3));
      const later = await makeWork(service, scheduledIn(0.3));
      const kinds = await kindsOf(service);
      const next = [...kinds.keys()].find((kind) => !lost.has(kind));
      if (next === undefined) return;
      lost.set(next, null);
      await service.redis.del(kinds.get(next) as string[]);
      const outcomes = await Promise.allSettled([called, silent, later].map(expectDone));
      lost.set(
        next,
        outcomes.filter(({ status }) => status === 'rejected'),
      );
    }
  };
  await Promise.all(allServices().map(loseKinds));
  expect(lost.size).toBeGreaterThan(10);
  expect([...lost].filter(([, faults]) => (faults as unknown[]).length > 0)).toEqual([]);
});
