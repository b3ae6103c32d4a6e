import type { JobEvent } from '@yardmaster/protocol';
import type { Call } from '../history.js';
import { type Evidence, isHit, type Outage, type StoredCase } from './rule.js';

/** A window that was closed by a scheduler. Times are epoch milliseconds. */
export interface TimeOut {
  jobId: string;
  event: JobEvent;
  at: number;
  /** It may not be closed up to and including this. */
  notBefore: number;
  /** By now it was due for sure: when a sign of life has come is not always known to the millisecond. */
  due: number;
}

const BEATS = ['progress', 'checkpoint', 'event', 'keepalive'];
const TIMED_OUT = /^Job timed out after .* seconds without a heartbeat$/;
const at = (event: JobEvent) => Date.parse(event.createdAt);

/** Every time-out in the histories of all jobs, and when it was due by what clients and histories know. */
export function timeOutsOf({ cases, settings }: Evidence): TimeOut[] {
  return cases.flatMap((one) => (one.job === null ? [] : ofJob({ ...one, job: one.job }, settings.deliveryTimeoutMs)));
}

function ofJob({ jobId, job, calls }: StoredCase, deliveryTimeoutMs: number): TimeOut[] {
  const found: TimeOut[] = [];
  let opened = 0;
  let signs: number[] = [];
  for (const event of job.events) {
    if (event.type === 'delivered' || event.type === 'acked') {
      opened = at(event);
      signs = [];
    } else if (BEATS.includes(event.type)) signs.push(at(event));
    else if (event.type === 'delivery_timeout') {
      const due = opened + deliveryTimeoutMs;
      found.push({ jobId, event, at: at(event), notBefore: due, due });
    } else if (isTimeOut(event)) {
      const windowMs = Math.ceil(job.timeoutSeconds * 1_000);
      const beats = calls.filter((call) => mayHaveOpened(call, opened, at(event)));
      const sure = beats.filter(({ outcome, answeredAt }) => outcome === 'ok' && answeredAt <= at(event));
      const last = Math.max(opened, ...signs);
      const notBefore = Math.max(last, ...sure.map(({ sentAt }) => sentAt)) + windowMs;
      const due = Math.max(last, ...beats.map(({ answeredAt }) => answeredAt)) + windowMs;
      found.push({ jobId, event, at: at(event), notBefore, due });
    }
  }
  return found;
}

/** Whether an attempt ended since its worker was silent. */
export const isTimeOut = ({ type, data }: JobEvent) =>
  (type === 'retried' || type === 'dead') && TIMED_OUT.test(String((data as { error?: unknown } | null)?.error));

/** Whether a call may have opened the window of the attempt that was started and ended then. */
const mayHaveOpened = ({ op, outcome, sentAt }: Call, started: number, ended: number) =>
  BEATS.includes(op) && outcome !== 'refused' && sentAt >= started && sentAt <= ended;

/** A scheduler is away, or has no Redis. */
export const stopsSchedulers = (outage: Outage) =>
  outage.stops.some((one) => one === 'scheduler' || (one === 'redis' && isHit(outage, 'scheduler')));

/** Deadlines may be missed: the timers of BullMQ need room, too. */
export const stopsTimeOuts = (outage: Outage) => stopsSchedulers(outage) || outage.stops.includes('room');

/** How late it was, less the time during which nobody could have met it, milliseconds. */
export function latenessOf({ at: met, due }: TimeOut, outages: readonly Outage[]): number {
  const away = outages
    .filter(stopsTimeOuts)
    .reduce((sum, { from, until }) => sum + Math.max(0, Math.min(met, until) - Math.max(due, from)), 0);
  return Math.max(0, met - due - away);
}
