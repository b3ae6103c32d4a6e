import { call } from '../call.js';
import { PARTITION_TAGS } from '../keys.js';
import { onBulk } from '../script/run-script.js';
import type { Store } from '../store.js';
import { ageSeconds, redisNow, withoutHeadStart } from '../time.js';

/** Spaces to read per space to show, because spaces with pending jobs come first. */
const LOOKED_AT = 4;

/** The pending jobs of a space. */
export interface SpaceBacklog {
  spaceId: string;
  pending: number;
  /** Number of scheduled jobs. */
  scheduled: number;
  /** How long the next job to be claimed has waited; null when none is pending. */
  oldestAgeSeconds: number | null;
  /** Bytes of its jobs, as last measured; null in a space without `maxBytes`. */
  bytes: number | null;
}

/** The queue of the jobs of one name in a space. */
export interface NameQueue {
  spaceId: string;
  name: string;
}

/** Waiting work: pending jobs by space, and pending callbacks. */
export interface Backlog {
  /** Spaces in which a job was queued most recently; those with pending jobs come first. */
  spaces: SpaceBacklog[];
  /** Number of pending jobs of the requested names, in the same order. */
  names: (NameQueue & { pending: number })[];
  /** Number of spaces with jobs that are not in `spaces`. */
  spacesLeftOut: number;
  callbacksPending: number;
  /** How overdue the relay's check of the oldest pending callback is, in seconds. */
  callbacksLateSeconds: number;
}

/**
 * Read the backlog, at a cost that does not depend on the number of jobs: a few commands per partition, up to nine per
 * space, and one per paused name and per requested name, over the bulk connection. Each command has a single key, so that
 * it works on a cluster. The numbers are not a snapshot.
 *
 * @param most maximum number of spaces; 0 for none
 * @param names names to count separately. Default none
 * @throws UNAVAILABLE
 */
export async function readBacklog(on: Store, most: number, names: readonly NameQueue[] = []): Promise<Backlog> {
  const store = onBulk(on);
  const [now, spaces, recent, callbacks, due] = await Promise.all([
    redisNow(store),
    ofPartitions((tag) => call(store, 'zcard', store.redis.zcard(store.keys.spaces(tag)))),
    most === 0 ? [] : ofPartitions((tag) => recentSpaces(store, tag, most)),
    ofPartitions((tag) => call(store, 'zcard', store.redis.zcard(store.keys.callbacks(tag)))),
    ofPartitions(async (tag) => Number((await first(store, store.keys.callbacks(tag)))[1] ?? Number.POSITIVE_INFINITY)),
  ]);
  const shown = await withPending(store, recent.flat(), most);
  return {
    names: await Promise.all(names.map((queue) => withDepth(store, queue))),
    spaces: await Promise.all(shown.map((space) => withAge(store, space, now))),
    spacesLeftOut: sum(spaces) - shown.length,
    callbacksPending: sum(callbacks),
    callbacksLateSeconds: Math.max(0, now - Math.min(...due)) / 1000,
  };
}

const ofPartitions = <T>(read: (tag: string) => Promise<T>) => Promise.all(PARTITION_TAGS.map(read));
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** Read the first member of a sorted set and its score; empty for an empty set. */
const first = (store: Store, key: string) => call(store, 'zrange', store.redis.zrange(key, 0, 0, 'WITHSCORES'));

interface Recent {
  spaceId: string;
  /** Order of the job queued last. */
  order: number;
}

async function recentSpaces(store: Store, tag: string, most: number): Promise<Recent[]> {
  const flat = await call(store, 'zrevrange', store.redis.zrevrange(store.keys.spaces(tag), 0, most - 1, 'WITHSCORES'));
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    spaceId: flat[2 * i] as string,
    order: Number(flat[2 * i + 1]),
  }));
}

interface Counted {
  spaceId: string;
  pending: number;
}

/** Select the spaces to show from those used most recently, and count their pending jobs. */
async function withPending(store: Store, recent: Recent[], most: number): Promise<Counted[]> {
  const candidates = recent.sort((a, b) => b.order - a.order).slice(0, most * LOOKED_AT);
  const counted = await Promise.all(
    candidates.map(async ({ spaceId }) => {
      const pending = await call(store, 'zcard', store.redis.zcard(store.keys.jobsByStatus(spaceId, 'pending')));
      return { spaceId, pending };
    }),
  );
  const busy = counted.filter(({ pending }) => pending > 0);
  const idle = counted.filter(({ pending }) => pending === 0);
  return [...busy, ...idle].slice(0, most);
}

async function withDepth(store: Store, { spaceId, name }: NameQueue): Promise<Backlog['names'][number]> {
  const pending = await call(store, 'zcard', store.redis.zcard(store.keys.queueOf(spaceId, name)));
  return { spaceId, name, pending };
}

async function withAge(store: Store, { spaceId, pending }: Counted, now: number): Promise<SpaceBacklog> {
  const { redis, keys } = store;
  const [scheduled, [round, sum, rest], [headId, score]] = await Promise.all([
    call(store, 'zcard', redis.zcard(keys.jobsByStatus(spaceId, 'scheduled'))),
    call(store, 'hmget', redis.hmget(keys.bytes(spaceId), 'round', 'sum', 'rest')),
    pending === 0 ? [] : nextOf(store, spaceId),
  ]);
  const figures = { spaceId, pending, scheduled, bytes: round ? Number(sum ?? 0) + Number(rest ?? 0) : null };
  if (headId === undefined || score === undefined) return { ...figures, oldestAgeSeconds: null };
  const priority = await call(store, 'hget', redis.hget(keys.job(headId), 'priority'));
  return { ...figures, oldestAgeSeconds: ageSeconds(withoutHeadStart(score, priority), now) };
}

/** Read the next job of a space and its score. A job of a paused name may be only in the queue of its name. */
async function nextOf(store: Store, spaceId: string): Promise<string[]> {
  const queue = store.keys.queue(spaceId);
  const [head, paused] = await Promise.all([
    first(store, queue),
    call(store, 'hkeys', store.redis.hkeys(store.keys.paused(spaceId))),
  ]);
  const heads = await Promise.all(paused.map((name) => first(store, `${queue}/${name}`)));
  const [next = []] = [head, ...heads].filter(({ length }) => length > 0).sort((a, b) => Number(a[1]) - Number(b[1]));
  return next;
}
