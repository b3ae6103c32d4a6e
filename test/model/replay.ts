import { inspect, isDeepStrictEqual } from 'node:util';
import type { EventType, JobEvent, JobWithEvents, JsonObject, JsonValue } from '@yardmaster/protocol';
import { type CallbackOutcome, partitionOf, STORE_DEFAULTS, type StoreSettings } from '@yardmaster/store';
import { begin, mustRetry, record, redeliver } from './callbacks.js';
import { expire } from './deadlines.js';
import { create } from './handing-out.js';
import { callJob, type JobVerb } from './job-calls.js';
import { get } from './reading.js';
import { type ModelJob, newWorld, type OfJob, Refusal, type World } from './world.js';

export interface ReplaySettings extends Partial<StoreSettings> {
  /** Seconds until each retry of a callback. Left out, retries are taken as they come. */
  callbackDelays?: readonly number[];
}

/** What happened to the job and left no event. Times are epoch milliseconds. */
export interface Unrecorded {
  /** Keepalives that were answered 2xx. */
  keepalives?: readonly { sentAt: number; answeredAt: number }[];
  /** Calls of redeliver that may have succeeded; any makes the times and the number of callbacks unknown. */
  redeliveries?: number;
}

interface Walk {
  world: World;
  job: ModelJob;
  of: OfJob;
  settings: ReplaySettings;
  unrecorded: Unrecorded;
}

/** History and model say different things. */
class Disagreement extends Error {}

/**
 * Walk the history of a job through the model, and compare the record with what the model makes of it.
 *
 * @param job as Get Job returns it
 * @returns the first disagreement as a sentence; null when there is none. If old events were dropped, only the number and
 *   the order of the remaining ones are checked
 */
export function replay(job: JobWithEvents, settings: ReplaySettings, unrecorded: Unrecorded = {}): string | null {
  const { id, events } = job;
  const [first] = events;
  if (first?.type !== 'created') return `the history begins with ${first?.type}`;
  if (isCut(job, settings)) return gapIn(job, settings);
  const world = begun(job, settings);
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

/** Whether old events were dropped, because there were more than are kept. */
export function isCut({ id, events }: JobWithEvents, { eventsPerJob = STORE_DEFAULTS.eventsPerJob }: ReplaySettings) {
  return seqOf(events.at(-1)) >= eventsPerJob && events[1]?.id !== `${id}.2`;
}

/** Of a history whose old events were dropped the newest are kept, and as many as are to be kept. */
function gapIn(
  { events }: JobWithEvents,
  { eventsPerJob = STORE_DEFAULTS.eventsPerJob }: ReplaySettings,
): string | null {
  if (events.length !== eventsPerJob) return `the history has ${events.length} events, and must have ${eventsPerJob}`;
  const after = events.find((event, i) => i > 1 && seqOf(event) !== seqOf(events[i - 1]) + 1);
  return after === undefined ? null : `the history lacks an event before ${after.type} (${after.id})`;
}

const seqOf = (event: JobEvent | undefined) => Number(event?.id.split('.')[1]);

function begun({ id, spaceId, createdAt, ...job }: JobWithEvents, settings: ReplaySettings): World {
  const world = newWorld({ ...STORE_DEFAULTS, ...settings }, Date.parse(createdAt));
  const { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders } = job;
  const request = { name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders };
  create(world, { id, space: spaceId, request });
  return world;
}

function step(walk: Walk, event: JobEvent): void {
  comeTo(walk, event);
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

/** Let time pass up to an event, with the keepalives that surely came before it. */
function comeTo({ world, job, of, unrecorded }: Walk, { id, type, createdAt }: JobEvent): void {
  const at = Date.parse(createdAt);
  // The time of a creation does not go back when the clock does; that of what follows may.
  if (at < world.now && job.events.length > 1)
    throw new Disagreement(`${type} (${id}) is older than the one before it`);
  for (const { sentAt, answeredAt } of unrecorded.keepalives ?? []) {
    if (job.status !== 'running' || sentAt <= world.now || answeredAt > at) continue;
    world.now = sentAt;
    callJob(world, 'keepalive', of);
  }
  world.now = at;
}

type Step = (walk: Walk, event: JobEvent) => void;

/** A verb, and what of the event is what its caller said. */
const called =
  (verb: JobVerb, said: (data: JsonObject | null) => JsonValue | undefined = () => null): Step =>
  ({ world, of }, { data }) =>
    void callJob(world, verb, { ...of, data: said(data as JsonObject | null) ?? null });

const STEPS: Record<EventType, Step> = {
  created(_, { id }) {
    throw new Disagreement(`created (${id}) is a second creation`);
  },
  ...{ delivered: called('claim'), acked: called('ack'), completed: called('complete', (data) => data) },
  progress: called('progress', (data) => data),
  checkpoint: called('checkpoint', (data) => data),
  event: called('event', (data) => data),
  killed: called('kill', (data) => data?.reason),
  ...{ retried: ended, dead: ended, delivery_timeout: timedOut },
  ...{ callback_sent: calledBack, callback_failed: calledBack },
};

const NEVER_ACKED = /^Job was delivered \d+ times and never acknowledged$/;
const TIMED_OUT = new RegExp(`^Job timed out after .* seconds without a heartbeat$|${NEVER_ACKED.source}`);

const errorOf = (data: JsonObject | null) => data?.error ?? '';

/** End an attempt: the worker has failed it, or has been silent; or end a job that no worker acked. */
function ended(walk: Walk, event: JobEvent): void {
  const isTimeOut = TIMED_OUT.test(String(errorOf(event.data as JsonObject | null)));
  (isTimeOut ? timedOut : called('fail', errorOf))(walk, event);
}

function timedOut({ world, job }: Walk, { id, type, data }: JobEvent): void {
  const { status, deadline } = job;
  const isOfDelivery = type === 'delivery_timeout' || NEVER_ACKED.test(String(errorOf(data as JsonObject | null)));
  if (status !== (isOfDelivery ? 'delivered' : 'running') || deadline === null)
    throw new Disagreement(`${type} (${id}) is a time-out, and the job was ${status}`);
  const earlyMs = deadline + 1 - world.now;
  if (earlyMs > 0) throw new Disagreement(`${type} (${id}) came ${earlyMs} ms before the window was over`);
  expire(world, { partition: partitionOf(job.spaceId) });
}

function calledBack({ world, job, of, settings, unrecorded }: Walk, { id, type, data }: JobEvent): void {
  if (unrecorded.redeliveries) redeliver(world, of);
  const what = `${type} (${id})`;
  const series = job.callback?.series ?? 0;
  const attempt = begin(world, { ...of, series });
  if ('waitMs' in attempt) {
    const why = attempt.waitMs === null ? 'no callback was owed' : `it came ${attempt.waitMs} ms too soon`;
    throw new Disagreement(`${what} happened while the job was ${job.status}, and ${why}`);
  }
  const outcome = { type, data } as CallbackOutcome;
  const { url, attempt: nth, willRetry } = outcome.data;
  if (url !== attempt.url || nth !== attempt.attempt)
    throw new Disagreement(`${what} is attempt ${nth} at ${url}, not ${attempt.attempt} at ${attempt.url}`);
  const { callbackDelays: delays } = settings;
  const left = delays ? delays.length - (nth - 1 - series) : 0;
  if (delays && !unrecorded.redeliveries && mustRetry(outcome, left) !== willRetry)
    throw new Disagreement(`${what} is ${willRetry ? '' : 'not '}to be retried, which is wrong`);
  // Each delay is up to 20 % shorter, by chance.
  const leastMs = Math.floor((delays?.[nth - 1 - series] ?? 0) * 800) - 1;
  record(world, { ...outcome, job: job.id, series, lease: attempt.lease, retryMs: willRetry ? leastMs : null });
}

const shown = (value: unknown) => inspect(value, { depth: 8, breakLength: Number.POSITIVE_INFINITY });

/** The model's newest event must be the one that is in the history. */
function compareEvent({ world, of }: Walk, event: JobEvent): void {
  const expected = get(world, of).events.at(-1) as JobEvent;
  if (isDeepStrictEqual(event, expected)) return;
  const [is, must] = [event, expected].map(({ id, type, data }) => `${type} (${id}) ${shown(data)}`);
  throw new Disagreement(is === must ? `${shown(event)} must be ${shown(expected)}` : `${is} must be ${must}`);
}

function compareRecord({ world, job, of }: Walk, found: JobWithEvents): void {
  const expected = get(world, of);
  for (const field of Object.keys(expected) as (keyof JobWithEvents)[]) {
    // A keepalive changes it, too, and leaves no event.
    if (field === 'updatedAt' && job.status === 'running') continue;
    if (!isDeepStrictEqual(found[field], expected[field]))
      throw new Disagreement(`${field} is ${shown(found[field])}, and by the history ${shown(expected[field])}`);
  }
}
