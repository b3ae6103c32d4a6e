import { inspect, isDeepStrictEqual } from 'node:util';
import {
  type CreateJobRequest,
  createJobRequest,
  type EventType,
  type JobEvent,
  type JobWithEvents,
  type JsonObject,
  TRANSITIONS,
  uniqueRequest,
} from '@yardmaster/protocol';
import { type CallbackOutcome, partitionOf, STORE_DEFAULTS, type StoreSettings } from '@yardmaster/store';
import { failStart, retryDelayMs } from './attempts.js';
import { begin, mustRetry, record, redeliver } from './callbacks.js';
import { expire, timeout } from './deadlines.js';
import { create } from './delivering.js';
import { LEAST_KEPT, NO_BYTES } from './history.js';
import { callJob, JOB_VERBS } from './job-calls.js';
import { isWaiting, replace } from './keyed.js';
import { get } from './reading.js';
import { makeReady, reschedule, startLimitOf } from './waiting.js';
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
  /** The request that the job shows: that of the last replacement. */
  finalRequest: CreateJobRequest;
  /** Id of the event of the last replacement. */
  lastReplaced: string | undefined;
  settings: ReplaySettings;
  unrecorded: Unrecorded;
}

/** The history contradicts the model. */
class Disagreement extends Error {}

/**
 * Replay the history of a job on the model, and compare the record with the model's.
 *
 * @param job as Get Job returns it
 * @returns the first disagreement as a sentence; null without one. If old events were dropped, only the number and
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
  const lastReplaced = events.findLast(({ type }) => type === 'replaced')?.id;
  const finalRequest = requestOf(job);
  const walk = { world, job: world.jobs.get(id) as ModelJob, of, finalRequest, lastReplaced, settings, unrecorded };
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
  { eventsPerJob = STORE_DEFAULTS.eventsPerJob, eventBytesPerJob }: ReplaySettings,
) {
  const most = eventBytesPerJob === NO_BYTES ? LEAST_KEPT : eventsPerJob;
  return seqOf(events.at(-1)) >= most && events[1]?.id !== `${id}.2`;
}

/** Return whether a request was replaced after an attempt or an end, because the history does not contain the earlier request. */
function isReplacedLate(events: readonly JobEvent[]): boolean {
  const first = events.findIndex(({ type }) => type === 'acked' || type === 'requeued');
  return first >= 0 && events.findLastIndex(({ type }) => type === 'replaced') > first;
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

function worldAtCreation(job: JobWithEvents, settings: ReplaySettings): World {
  const { id, spaceId, createdAt, events } = job;
  const world = newWorld({ ...STORE_DEFAULTS, ...settings }, Date.parse(createdAt));
  const request = { ...requestOf(job), scheduledFor: firstTimeOf(job) };
  // How long an earlier request let the job wait for its start is not known.
  if (events.some(({ type }) => type === 'replaced')) request.startWithinSeconds = null;
  create(world, { id, space: spaceId, request });
  return world;
}

/** Return the request that a job shows, without a time. */
function requestOf(job: JobWithEvents): CreateJobRequest {
  const { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders, callbackOn } = job;
  const { retry, maxRunSeconds, startWithinSeconds, priority, tags } = job;
  const unique = job.unique ? uniqueRequest.parse(job.unique) : null;
  const given = { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders, callbackOn };
  return { ...createJobRequest.parse({ ...given, retry, maxRunSeconds, startWithinSeconds, priority, tags }), unique };
}

/** Return the time that an event gave its job, epoch milliseconds; null for none. */
function timeIn({ type, data }: JobEvent): number | null {
  const { scheduledFor } = (TIMED.has(type) ? (data ?? {}) : {}) as { scheduledFor?: string };
  return typeof scheduledFor === 'string' ? Date.parse(scheduledFor) : null;
}

/** Types of events that can give their job a time. */
const TIMED = new Set(TRANSITIONS.filter(({ to }) => to === 'scheduled').map(({ event }) => event));

/** Return the time for which a job was scheduled at its creation; the latest possible one if it is not known. */
function firstTimeOf({ events, scheduledFor }: JobWithEvents): number | null {
  if (scheduledFor !== undefined && events.every((event) => timeIn(event) === null)) return Date.parse(scheduledFor);
  return events[1]?.type === 'ready' ? Date.parse(events[1].createdAt) - 1 : null;
}

function step(walk: Replay, event: JobEvent): void {
  advanceTo(walk, event);
  const { status } = walk.job;
  const latest = walk.job.events.at(-1);
  const what = `${event.type} (${event.id}) happened while the job was ${status}`;
  try {
    (STEPS[event.type] ?? called)(walk, event);
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
  if (at < world.now && job.events.length > 1) throw new Disagreement(`${type} (${id}) is older than the previous one`);
  for (const { sentAt, endedAt } of unrecorded.keepalives ?? []) {
    if (job.status !== 'running' || sentAt <= world.now || endedAt > at) continue;
    world.now = sentAt;
    callJob(world, 'keepalive', of);
  }
  world.now = at;
}

type Step = (walk: Replay, event: JobEvent) => void;

/** Events that are not replayed by the call after which they are recorded, with their data as its body. */
const STEPS: Partial<Record<EventType, Step>> = {
  created(_, { id }) {
    throw new Disagreement(`created (${id}) is a second creation`);
  },
  completed: ({ world, of }, { data }) => void callJob(world, 'complete', { ...of, body: { result: data } }),
  ...{ ready, rescheduled, replaced, retried: ended, dead: ended, delivery_timeout: timedOut },
  ...{ callback_sent: calledBack, callback_failed: calledBack },
};

/** Replay an event by the call that causes it. The history has the time of a delay, and the call has its length. */
function called(walk: Replay, event: JobEvent): void {
  const { type, data } = event;
  const verb = JOB_VERBS.find((one) => TRANSITIONS.some((row) => row.event === type && row.trigger === one));
  if (verb === undefined) throw new Error(`No call causes ${type}: add it to STEPS`);
  const body = TIMED.has(type) ? { ...(data as JsonObject | null), delaySeconds: delayIn(walk, event) } : data;
  callJob(walk.world, verb, { ...walk.of, body });
}

/** Return the seconds from now until the time in an event, so that the model arrives at the same millisecond. */
function delayIn({ world: { now } }: Replay, event: JobEvent): number | null {
  const at = timeIn(event);
  return at === null ? null : (at - now - 0.5) / 1_000;
}

function ready({ world, job }: Replay, { id }: JobEvent): void {
  if (job.status !== 'scheduled') throw new Disagreement(`ready (${id}) happened while the job was ${job.status}`);
  expectPast(world, `ready (${id})`, { end: job.scheduledFor as number, of: 'the job was due' });
  makeReady(world, job);
}

function rescheduled({ world, of }: Replay, event: JobEvent): void {
  const { priority = null } = event.data as { priority?: number };
  const scheduledFor = timeIn(event);
  reschedule(world, { ...of, scheduledFor, delaySeconds: scheduledFor === null ? 0 : null, priority });
}

function replaced({ world, job, finalRequest, lastReplaced }: Replay, event: JobEvent): void {
  if (!isWaiting(job.status)) return;
  const isLast = event.id === lastReplaced;
  const startWithinSeconds = isLast ? finalRequest.startWithinSeconds : null;
  replace(world, job, { ...finalRequest, startWithinSeconds, scheduledFor: timeIn(event) });
}

const NEVER_ACKED = /^Job was delivered \d+ times and never acknowledged$/;
const NOT_STARTED = /^Job was not started within .* seconds$/;
const TOO_LONG = /^Job ran longer than .* seconds$/;
const TIMED_OUT = new RegExp(
  `^Job timed out after .* seconds without a heartbeat$|${NEVER_ACKED.source}|${TOO_LONG.source}`,
);

const errorIn = ({ data }: JobEvent) => ((data as JsonObject | null)?.error ?? '') as string | JsonObject;

/** Replay the end of an attempt that the worker failed or that timed out, or of a job that no worker acked. */
function ended(walk: Replay, event: JobEvent): void {
  const error = String(errorIn(event));
  if (NOT_STARTED.test(error)) notStarted(walk, event);
  else if (TIMED_OUT.test(error)) timedOut(walk, event);
  else failed(walk, event);
}

/** Replay a worker's failure. The history contains neither of its options, which win over the job's retries and delays. */
function failed(walk: Replay, event: JobEvent): void {
  const { world, of } = walk;
  const delaySeconds = delayIn(walk, event) ?? 0;
  if (delaySeconds > LONGEST_DELAY_SECONDS)
    throw new Disagreement(`${event.type} (${event.id}) has a delay of more than ${LONGEST_DELAY_SECONDS} s`);
  // An end before the last attempt is one that must not be retried.
  const retryable = event.type === 'retried';
  callJob(world, 'fail', { ...of, body: { error: errorIn(event), retryAfterSeconds: delaySeconds, retryable } });
}

const LONGEST_DELAY_SECONDS = 604_800;

function notStarted({ world, job }: Replay, { id, type }: JobEvent): void {
  const limit = startLimitOf(job);
  if (!isWaiting(job.status) && job.status !== 'delivered')
    throw new Disagreement(`${type} (${id}) is the end of a job that has not started, and the job was ${job.status}`);
  if (limit === null) throw new Disagreement(`${type} (${id}) happened to a job without a limit for its start`);
  expectPast(world, `${type} (${id})`, { end: limit, of: 'the time to start was over' });
  failStart(world, job);
}

function timedOut(walk: Replay, event: JobEvent): void {
  const { world, job } = walk;
  const what = `${event.type} (${event.id})`;
  const error = String(errorIn(event));
  const isOfDelivery = event.type === 'delivery_timeout' || NEVER_ACKED.test(error);
  if (job.status !== (isOfDelivery ? 'delivered' : 'running') || job.deadline === null)
    throw new Disagreement(`${what} is a timeout, and the job was ${job.status}`);
  if (isOfDelivery) {
    expectPast(world, what, { end: job.deadline, of: 'the window was over' });
    expire(world, { partition: partitionOf(job.spaceId) });
    return;
  }
  // A keepalive, which leaves no event, may have kept the window open until then.
  if (TOO_LONG.test(error) && job.runBy !== null) job.deadline = job.runBy;
  const of = TOO_LONG.test(error) ? 'the time of the attempt was over' : 'the window was over';
  expectPast(world, what, { end: job.deadline, of });
  timeout(world, job, drawnDelayMs(walk, event));
}

const BELOW_1 = 1 - Number.EPSILON / 2;

/** Return the delay that a timeout led to, which must be one that `retry` of the job allows. */
function drawnDelayMs({ world, job }: Replay, event: JobEvent): number {
  const at = timeIn(event);
  const delayMs = at === null ? 0 : at - world.now;
  const [least, most] = [retryDelayMs(job, 0), retryDelayMs(job, BELOW_1)];
  if (event.type === 'dead' || (delayMs >= least && delayMs <= most)) return delayMs;
  throw new Disagreement(`${event.type} (${event.id}) has a delay of ${delayMs} ms, and must have ${least} to ${most}`);
}

/** Check that a time is over: each lasts to the end of its last millisecond. */
function expectPast({ now }: World, what: string, { end, of }: { end: number; of: string }): void {
  const earlyMs = end + 1 - now;
  if (earlyMs > 0) throw new Disagreement(`${what} came ${earlyMs} ms before ${of}`);
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
  // Each delay is up to 20% shorter, by chance.
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

/** Fields that must be absent where the model lacks them. */
const WAITING_FIELDS = ['scheduledFor', 'priority', 'error'];

function compareRecord({ world, job, of }: Replay, found: JobWithEvents): void {
  const expected = get(world, of);
  for (const field of new Set([...Object.keys(expected), ...WAITING_FIELDS]) as Set<keyof JobWithEvents>) {
    // A keepalive changes it too, and leaves no event.
    if (field === 'updatedAt' && job.status === 'running') continue;
    if (!isDeepStrictEqual(found[field], expected[field]))
      throw new Disagreement(`${field} is ${shown(found[field])}, but by the history ${shown(expected[field])}`);
  }
}
