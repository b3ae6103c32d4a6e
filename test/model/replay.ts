import { inspect, isDeepStrictEqual } from 'node:util';
import {
  createJobRequest,
  type EventType,
  type JobEvent,
  type JobWithEvents,
  type JsonObject,
  type JsonValue,
  uniqueRequest,
} from '@yardmaster/protocol';
import { type CallbackOutcome, partitionOf, STORE_DEFAULTS, type StoreSettings } from '@yardmaster/store';
import { begin, mustRetry, record, redeliver } from './callbacks.js';
import { expire } from './deadlines.js';
import { create } from './delivering.js';
import { callJob, type JobVerb } from './job-calls.js';
import { replace } from './keyed.js';
import { get } from './reading.js';
import { type ModelJob, newWorld, type OfJob, Refusal, type World } from './world.js';

export interface ReplaySettings extends Partial<StoreSettings> {
  /** Seconds until each retry of a callback. If left out, retries are not checked. */
  callbackDelays?: readonly number[];
}

/** Calls that left no event. Times are epoch milliseconds. */
export interface Unrecorded {
  /** Keepalives with a 2xx response. */
  keepalives?: readonly { sentAt: number; endedAt: number }[];
  /** Calls of redeliver that may have succeeded; any makes the times and the number of callbacks unknown. */
  redeliveries?: number;
}

interface Replay {
  world: World;
  job: ModelJob;
  of: OfJob;
  settings: ReplaySettings;
  unrecorded: Unrecorded;
}

/** The history contradicts the model. */
class Disagreement extends Error {}

/**
 * Replay the history of a job on the model, and compare the record with the model's.
 *
 * @param job as Get Job returns it
 * @returns the first disagreement as a sentence; null if there is none. If old events were dropped, only the number and
 *   the order of the remaining events are checked
 */
export function replay(job: JobWithEvents, settings: ReplaySettings, unrecorded: Unrecorded = {}): string | null {
  const { id, events } = job;
  const [first] = events;
  if (first?.type !== 'created') return `the history begins with ${first?.type}`;
  if (isTrimmed(job, settings)) return gapIn(job, settings);
  if (isReplacedLate(events)) return null;
  const world = worldAtCreation(job, settings);
  const of = { job: id, caller: null };
  const walk = { world, job: world.jobs.get(id) as ModelJob, of, settings, unrecorded };
  try {
    compareEvent(walk, first);
    for (const event of events.slice(1)) step(walk, event);
    compareRecord(walk, job);
    return null;
  } catch (error) {
    if (error instanceof Disagreement) return error.message;
    throw error;
  }
}

/** Return whether old events were dropped, because there were more than are kept. */
export function isTrimmed(
  { id, events }: JobWithEvents,
  { eventsPerJob = STORE_DEFAULTS.eventsPerJob }: ReplaySettings,
) {
  return seqOf(events.at(-1)) >= eventsPerJob && events[1]?.id !== `${id}.2`;
}

/** Return whether a request was replaced after an attempt, because the history does not contain the earlier request. */
function isReplacedLate(events: readonly JobEvent[]): boolean {
  const firstAck = events.findIndex(({ type }) => type === 'acked');
  return firstAck >= 0 && events.findLastIndex(({ type }) => type === 'replaced') > firstAck;
}

/** Find a gap in a history whose old events were dropped: exactly the newest events must be kept. */
function gapIn(
  { events }: JobWithEvents,
  { eventsPerJob = STORE_DEFAULTS.eventsPerJob }: ReplaySettings,
): string | null {
  if (events.length !== eventsPerJob) return `the history has ${events.length} events, and must have ${eventsPerJob}`;
  const after = events.find((event, i) => i > 1 && seqOf(event) !== seqOf(events[i - 1]) + 1);
  return after === undefined ? null : `the history lacks an event before ${after.type} (${after.id})`;
}

const seqOf = (event: JobEvent | undefined) => Number(event?.id.split('.')[1]);

function worldAtCreation({ id, spaceId, createdAt, ...job }: JobWithEvents, settings: ReplaySettings): World {
  const world = newWorld({ ...STORE_DEFAULTS, ...settings }, Date.parse(createdAt));
  const { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders } = job;
  const unique = job.unique ? uniqueRequest.parse(job.unique) : null;
  const given = { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders };
  const request = { ...createJobRequest.parse(given), unique };
  create(world, { id, space: spaceId, request });
  return world;
}

function step(walk: Replay, event: JobEvent): void {
  advanceTo(walk, event);
  const { status } = walk.job;
  const latest = walk.job.events.at(-1);
  const what = `${event.type} (${event.id}) happened while the job was ${status}`;
  try {
    STEPS[event.type](walk, event);
  } catch (error) {
    if (error instanceof Refusal) throw new Disagreement(`${what}, which is refused: ${error.code}`);
    throw error;
  }
  if (walk.job.events.at(-1) === latest) throw new Disagreement(`${what}, where it does nothing`);
  compareEvent(walk, event);
}

/** Advance the clock to an event, with the keepalives that certainly came before it. */
function advanceTo({ world, job, of, unrecorded }: Replay, { id, type, createdAt }: JobEvent): void {
  const at = Date.parse(createdAt);
  // The time of a creation does not go back when the clock does; the times of later events may.
  if (at < world.now && job.events.length > 1)
    throw new Disagreement(`${type} (${id}) is older than the one before it`);
  for (const { sentAt, endedAt } of unrecorded.keepalives ?? []) {
    if (job.status !== 'running' || sentAt <= world.now || endedAt > at) continue;
    world.now = sentAt;
    callJob(world, 'keepalive', of);
  }
  world.now = at;
}

type Step = (walk: Replay, event: JobEvent) => void;

/** Replay an event by calling a verb with the event's data. */
const byCalling =
  (verb: JobVerb, dataOf: (data: JsonObject | null) => JsonValue | undefined = () => null): Step =>
  ({ world, of }, { data }) =>
    void callJob(world, verb, { ...of, data: dataOf(data as JsonObject | null) ?? null });

const STEPS: Record<EventType, Step> = {
  created(_, { id }) {
    throw new Disagreement(`created (${id}) is a second creation`);
  },
  ...{ delivered: byCalling('claim'), acked: byCalling('ack'), completed: byCalling('complete', (data) => data) },
  progress: byCalling('progress', (data) => data),
  checkpoint: byCalling('checkpoint', (data) => data),
  event: byCalling('event', (data) => data),
  killed: byCalling('kill', (data) => data?.reason),
  released: byCalling('release', (data) => data?.reason),
  ready: () => undefined,
  rescheduled: () => undefined,
  replaced: ({ world, job }) => {
    if (job.status === 'pending') replace(world, job, job.request);
  },
  ...{ retried: ended, dead: ended, delivery_timeout: timedOut },
  ...{ callback_sent: calledBack, callback_failed: calledBack },
};

const NEVER_ACKED = /^Job was delivered \d+ times and never acknowledged$/;
const TIMED_OUT = new RegExp(`^Job timed out after .* seconds without a heartbeat$|${NEVER_ACKED.source}`);

const errorOf = (data: JsonObject | null) => data?.error ?? '';

/** Replay the end of an attempt that the worker failed or that timed out, or of a job that no worker acked. */
function ended(walk: Replay, event: JobEvent): void {
  const isTimeOut = TIMED_OUT.test(String(errorOf(event.data as JsonObject | null)));
  (isTimeOut ? timedOut : byCalling('fail', errorOf))(walk, event);
}

function timedOut({ world, job }: Replay, { id, type, data }: JobEvent): void {
  const { status, deadline } = job;
  const isOfDelivery = type === 'delivery_timeout' || NEVER_ACKED.test(String(errorOf(data as JsonObject | null)));
  if (status !== (isOfDelivery ? 'delivered' : 'running') || deadline === null)
    throw new Disagreement(`${type} (${id}) is a time-out, and the job was ${status}`);
  const earlyMs = deadline + 1 - world.now;
  if (earlyMs > 0) throw new Disagreement(`${type} (${id}) came ${earlyMs} ms before the window was over`);
  expire(world, { partition: partitionOf(job.spaceId) });
}

function calledBack({ world, job, of, settings, unrecorded }: Replay, { id, type, data }: JobEvent): void {
  if (unrecorded.redeliveries) redeliver(world, of);
  const what = `${type} (${id})`;
  const series = job.callback?.series ?? 0;
  const attempt = begin(world, { ...of, series });
  if ('waitMs' in attempt) {
    const why = attempt.waitMs === null ? 'no callback was pending' : `it came ${attempt.waitMs} ms too soon`;
    throw new Disagreement(`${what} happened while the job was ${job.status}, and ${why}`);
  }
  const outcome = { type, data } as CallbackOutcome;
  const { url, attempt: nth, willRetry } = outcome.data;
  if (url !== attempt.url || nth !== attempt.attempt)
    throw new Disagreement(`${what} is attempt ${nth} at ${url}, not ${attempt.attempt} at ${attempt.url}`);
  const { callbackDelays: delays } = settings;
  const left = delays ? delays.length - (nth - 1 - series) : 0;
  if (delays && !unrecorded.redeliveries && mustRetry(outcome, left) !== willRetry)
    throw new Disagreement(`${what} is ${willRetry ? '' : 'not '}retried, which is wrong`);
  // Each delay is up to 20 % shorter, by chance.
  const leastMs = Math.floor((delays?.[nth - 1 - series] ?? 0) * 800) - 1;
  record(world, { ...outcome, job: job.id, series, lease: attempt.lease, retryMs: willRetry ? leastMs : null });
}

const shown = (value: unknown) => inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });

/** The model's newest event must be the one that is in the history. */
function compareEvent({ world, of }: Replay, event: JobEvent): void {
  const expected = get(world, of).events.at(-1) as JobEvent;
  if (isDeepStrictEqual(event, expected)) return;
  const [is, must] = [event, expected].map(({ id, type, data }) => `${type} (${id}) ${shown(data)}`);
  throw new Disagreement(is === must ? `${shown(event)} must be ${shown(expected)}` : `${is} must be ${must}`);
}

function compareRecord({ world, job, of }: Replay, found: JobWithEvents): void {
  const expected = get(world, of);
  for (const field of Object.keys(expected) as (keyof JobWithEvents)[]) {
    // A keepalive changes it too, and leaves no event.
    if (field === 'updatedAt' && job.status === 'running') continue;
    if (!isDeepStrictEqual(found[field], expected[field]))
      throw new Disagreement(`${field} is ${shown(found[field])}, but by the history ${shown(expected[field])}`);
  }
}
