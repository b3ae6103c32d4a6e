import type { JobEvent, Status } from '@yardmaster/protocol';
import { type Call, HEARTBEATS } from '../checker/history.js';
import { statusAtCreation } from './attempts.js';
import {
  affects,
  type Evidence,
  type Finding,
  type Outage,
  type PromiseId,
  type Rule,
  ruleForEachJob,
  type StoredCase,
  storedCases,
} from './rule.js';

/** A window or a delay that a scheduler ended. Times are epoch milliseconds. */
export interface Timeout {
  jobId: string;
  event: JobEvent;
  at: number;
  due: number; // Latest possible deadline, because the exact time of a heartbeat is not always known.
}

const SILENT = /^Job timed out after .* seconds without a heartbeat$/;
const TOO_LONG = /^Job ran longer than .* seconds$/;
const NEVER_ACKED = /^Job was delivered \d+ times and never acknowledged$/;
const NOT_STARTED = /^Job was not started within .* seconds$/;

const isHeartbeat = (type: string) => HEARTBEATS.some((one) => one === type);

const hasError = ({ type, data }: JobEvent, error: RegExp) =>
  (type === 'retried' || type === 'dead') && error.test(String((data as { error?: unknown } | null)?.error));

/** Check whether an event ended a job that was not started in time. */
export const isNotStarted = (event: JobEvent) => hasError(event, NOT_STARTED);

const TIME_OUTS = [SILENT, TOO_LONG, NEVER_ACKED, NOT_STARTED];

/** Check whether a scheduler ended an attempt that was silent or took too long, or a job that no worker acked. */
export const isTimeout = (event: JobEvent) => TIME_OUTS.some((error) => hasError(event, error));

/** List every timeout in the histories of all jobs, with times from clients and histories. */
export const timeoutsOf = (evidence: Evidence): Timeout[] =>
  storedCases(evidence).flatMap((one) =>
    [windowsOf, waitsOf].flatMap((list) => list(one, evidence.settings.deliveryTimeoutMs)),
  );

/** List the windows of deliveries and attempts that a scheduler closed. */
function windowsOf({ jobId, job, calls }: StoredCase, deliveryTimeoutMs: number): Timeout[] {
  const found: Timeout[] = [];
  let opened = 0;
  let heartbeats: number[] = [];
  for (const event of job.events) {
    const at = Date.parse(event.createdAt);
    if (event.type === 'delivered' || event.type === 'acked') {
      opened = at;
      heartbeats = [];
    } else if (isHeartbeat(event.type)) heartbeats.push(at);
    else if (event.type === 'delivery_timeout' || hasError(event, NEVER_ACKED)) {
      found.push({ jobId, event, at, due: opened + deliveryTimeoutMs });
    } else if (hasError(event, TOO_LONG)) {
      found.push({ jobId, event, at, due: opened + Math.ceil((job.maxRunSeconds ?? 0) * 1_000) });
    } else if (hasError(event, SILENT)) {
      const windowMs = Math.ceil(job.timeoutSeconds * 1_000);
      const calledAt = calls.filter((call) => mayHaveExtended(call, opened, at));
      const due = Math.max(opened, ...heartbeats, ...calledAt.map(({ endedAt }) => endedAt)) + windowMs;
      found.push({ jobId, event, at, due });
    }
  }
  return found;
}

/** List the delays that a scheduler ended, and the deaths of jobs that were not started in time. */
function waitsOf({ jobId, job, calls }: StoredCase, deliveryTimeoutMs: number): Timeout[] {
  const found: Timeout[] = [];
  const startBy = claimableAt(job) + (job.startWithinSeconds ?? 0) * 1_000;
  let scheduledFor = scheduledAtCreation(job, calls);
  for (const [i, event] of job.events.entries()) {
    const at = Date.parse(event.createdAt);
    const until = (event.data as { scheduledFor?: string } | null)?.scheduledFor;
    if (typeof until === 'string') scheduledFor = Date.parse(until);
    if (event.type === 'ready' && scheduledFor !== null) found.push({ jobId, event, at, due: scheduledFor });
    if (!isNotStarted(event)) continue;
    const before = job.events[i - 1] as JobEvent;
    // A delivered job dies when its delivery times out.
    const takenBackAt = before.type === 'delivered' ? Date.parse(before.createdAt) + deliveryTimeoutMs : 0;
    found.push({ jobId, event, at, due: Math.max(startBy, takenBackAt) });
  }
  return found;
}

/** Return when a job first became claimable. */
const claimableAt = ({ createdAt, events }: StoredCase['job']) =>
  Date.parse(statusAtCreation({ events }) === 'scheduled' ? (events[1]?.createdAt as string) : createdAt);

/** Return the time for which a job was scheduled at its creation; null for no time or an unknown one. */
function scheduledAtCreation({ createdAt }: StoredCase['job'], calls: readonly Call[]): number | null {
  const delaySeconds = calls.find(({ op }) => op === 'create')?.sent?.delaySeconds;
  return typeof delaySeconds === 'number' ? Date.parse(createdAt) + delaySeconds * 1_000 : null;
}

/** Check whether a call may have extended the window of an attempt that began and ended at these times. */
const mayHaveExtended = ({ op, outcome, sentAt }: Call, began: number, ended: number) =>
  isHeartbeat(op) && outcome !== 'refused' && sentAt >= began && sentAt <= ended;

/** Check whether an outage makes a scheduler unavailable, or separates it from Redis. */
export const stopsSchedulers = (outage: Outage) =>
  outage.stops.some((one) => one === 'scheduler' || (one === 'redis' && affects(outage, 'scheduler')));

/** Return the lateness of a timeout in milliseconds, without the time in which no scheduler was available. */
export function latenessOf({ at, due }: Timeout, outages: readonly Outage[]): number {
  const stopped = outages
    .filter(stopsSchedulers)
    .reduce((sum, { from, until }) => sum + Math.max(0, Math.min(at, until) - Math.max(due, from)), 0);
  return Math.max(0, at - due - stopped);
}

/** Maximum lateness of a timeout, in milliseconds. */
export const LATE_MS = 2_000;
/** The same during a fault that leaves a scheduler running, or after one that leaves none. */
export const LATE_UNDER_FAULT_MS = 5_000;

/** A timeout is handled within 2 s, and within 5 s of the end of an outage (P4). */
export const lateness: Rule = {
  name: 'lateness',
  promise: 'P4',
  check(evidence) {
    const { outages } = evidence;
    return timeoutsOf(evidence).flatMap((timeout): Finding[] => {
      const { jobId, event, at, due } = timeout;
      const ends = outages
        .filter((outage) => stopsSchedulers(outage) && outage.from <= due + LATE_MS)
        .map(({ until }) => until);
      if (at <= Math.max(due + LATE_MS, ...ends.map((end) => end + LATE_UNDER_FAULT_MS))) return [];
      const says = `${event.type} (${event.id}) came ${latenessOf(timeout, outages)} ms late`;
      return [{ jobId, damage: 'late', says, during: { from: Math.max(due, ...ends), until: at } }];
    });
  },
};

/** Promise broken by a job left in each status. A pending job is missing from its queue. */
const LEFT: Partial<Record<Status, PromiseId>> = { scheduled: 'P4', pending: 'P1', delivered: 'P4', running: 'P4' };

/** After a fault, all work ends: workers poll, and jobs that they drop return to the queue (P4). */
export const drained = ruleForEachJob('drained', 'P4', ({ job }, { dump }) => {
  const promise = LEFT[job.status];
  if (promise === undefined) return [];
  const overdueMs = job.deadline === null ? 0 : dump.at - job.deadline;
  const since = overdueMs > 0 ? `, and overdue by ${overdueMs} ms` : '';
  return [{ promise, damage: 'late', says: `it is still ${job.status} at the end${since}` }];
});
