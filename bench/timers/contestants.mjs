// The two ways to keep a timer for each job: ours, in the scripts that run anyway, and a delayed BullMQ job for each.
import {
  ANY_SPACE,
  ackJob,
  claimJob,
  completeJob,
  createJob,
  heartbeatJob,
  PARTITION_TAGS,
  partitionOf,
} from '@yardmaster/store';
import { Queue } from 'bullmq';
// Not for others to import: the texts, to know what the scripts cost without their timers.
import * as scripts from '../../packages/store/dist/scripts.generated.js';
import { inBatches } from '../meter.mjs';

/** One space in each partition. */
export const SPACES = PARTITION_TAGS.map((tag) => {
  for (let n = 0; ; n++) if (partitionOf(`space-${n}`) === tag) return `space-${n}`;
});

/** The timer of the n-th job, in seconds: spread, and none ends while we measure. */
export const secondsOf = (n) => 1_000 + ((n * 7) % 9_000);

const requestOf = (n) => ({
  name: 'bench',
  payload: null,
  maxRetries: 3,
  timeoutSeconds: secondsOf(n),
  callbackUrl: null,
  callbackHeaders: null,
});

const ack = (store) => (id) => ackJob(store, ANY_SPACE, id);
const complete = (store) => (id) => completeJob(store, ANY_SPACE, id, null);

/** Jobs that are delivered, spread over some spaces; their ids. */
export async function deliveredJobs(store, spaces, count) {
  const ids = [];
  const numbers = Array.from({ length: count }, (_, n) => n);
  const create = async (n) => {
    ids[n] = (await createJob(store, spaces[n % spaces.length], requestOf(n))).id;
  };
  await inBatches(store.redis, numbers, 50, create);
  await inBatches(store.redis, ids, 50, (id) => claimJob(store, ANY_SPACE, id));
  return ids;
}

/** Jobs that are running. */
export async function runningJobs(store, spaces, count) {
  const ids = await deliveredJobs(store, spaces, count);
  await inBatches(store.redis, ids, 50, ack(store));
  return ids;
}

export const deleteDeadlines = (store) => store.redis.del(PARTITION_TAGS.map((tag) => store.keys.deadlines(tag)));

export const keepAlive = (store, ids, atOnce) =>
  inBatches(store.redis, ids, atOnce, (id) => heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' }));

/** Set a timer, by an ack, and cancel it, by a completion: of jobs that are delivered. */
export const ackAndComplete = (store, ids) => inBatches(store.redis, ids, 50, ack(store), complete(store));

/** A script's text without some of its lines. */
function without(script, lines) {
  for (const line of lines) if (!script.text.includes(`\n${line}\n`)) throw new Error(`${script.name}: no ${line}`);
  const kept = script.text.split('\n').filter((line) => !lines.includes(line));
  return [script.sha1, kept.join('\n')];
}

/** A store whose scripts are the same but for the timer: ack, complete and keepalive leave `deadlines` alone. */
export async function withoutTimers(store) {
  const texts = [
    without(scripts.ack, ['openWindow(found, now)']),
    without(scripts.complete, ['retain(found, now, retentionMs)']),
    without(scripts.heartbeat, ["redis.call('ZREM', base .. 'deadlines', jobId)", 'openWindow(found, now)']),
  ];
  const sha1s = new Map();
  for (const [sha1, text] of texts) sha1s.set(sha1, await store.redis.script('LOAD', text));
  const evalsha = (sha1, ...rest) => store.redis.evalsha(sha1s.get(sha1) ?? sha1, ...rest);
  return { ...store, redis: { evalsha, stream: store.redis.stream } };
}

/** Timers as delayed jobs of BullMQ, each with its job's id, over the same connection as ours. */
export function bullTimers(redis) {
  const queue = new Queue('timers', { connection: redis, prefix: 'ym:{bull}' });
  const remove = (id) => queue.remove(id);
  const add = (id, n) =>
    queue.add('timer', { jobId: id }, { jobId: id, delay: secondsOf(n) * 1000, removeOnComplete: true });
  return {
    /** Set timers; the delayed jobs. */
    async set(ids) {
      const jobs = [];
      const numbers = ids.map((_, n) => n);
      await inBatches(redis, numbers, 50, async (n) => {
        jobs[n] = await add(ids[n], n);
      });
      return jobs;
    },
    /** Push timers forward. BullMQ needs the delayed job for it; we spare it the reading. */
    push: (jobs, atOnce) => inBatches(redis, jobs, atOnce, (job) => job.changeDelay(job.opts.delay)),
    /** The same by a new delayed job in place of the old one. */
    replace: (jobs, atOnce) =>
      inBatches(
        redis,
        jobs,
        atOnce,
        (job) => remove(job.id),
        (job) => queue.add(job.name, job.data, job.opts),
      ),
    /** Set timers and cancel them. */
    setAndCancel: (ids) => inBatches(redis, ids, 50, add, remove),
    /** Bytes of the queue's own stream of events, which does not grow with the timers once it is full. */
    eventBytes: () => redis.call('MEMORY', 'USAGE', 'ym:{bull}:timers:events', 'SAMPLES', 0),
    close: () => queue.close(),
  };
}
