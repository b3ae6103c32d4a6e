import { readFileSync } from 'node:fs';
import { evidenceOf } from '../checker/checker.js';
import type { Call } from '../checker/history.js';
import { type AppProcess, STARTED_AGAIN } from '../installation/app-process.js';
import { isCut } from '../rules/closes.js';
import type { Finding, PromiseId } from '../rules/rule.js';
import { LATE_UNDER_FAULT_MS, type Timeout, timeoutsOf } from '../rules/timeouts.js';
import type { FaultContext, Run } from './fault.js';

/** List the calls in flight during the outage. */
export const callsDuring = ({ history, outage: { from, until } }: Run): Call[] =>
  history.ofKind('call').filter(({ sentAt, endedAt }) => endedAt >= from && sentAt <= until);

const isUnserved = ({ outcome }: Call) => outcome === 'unknown' || outcome === 'not now';

/** Report calls that were not served. */
export const unserved = (calls: readonly Call[], why: string, promise: PromiseId = 'P12'): Finding[] =>
  calls.filter(isUnserved).map(({ jobId, op, status, code, body, line, sentAt, endedAt }) => {
    const says = `${op} was not served, and ${why}: ${status ?? body} ${code ?? ''}`;
    return { jobId, promise, says, lines: [line], during: { from: sentAt, until: endedAt } };
  });

/** Measure how long until the last call that was not served, in milliseconds, without stalls of this machine. */
export function servedAgainAfter({ history, stalls }: Run, since: number): number {
  const unknown = history
    .ofKind('call')
    .filter(isUnserved)
    .map(({ sentAt }) => sentAt);
  const last = Math.max(since, ...unknown);
  return Math.max(0, last - since - stalls.between(since, last));
}

/**
 * Measure how long after the start of an outage work continued, in milliseconds, without stalls of this machine: the end of the
 * longest gap between the given times that began before the outage ended.
 *
 * @param seenAt times of messages or timeouts, epoch milliseconds
 */
export function resumedAfter(seenAt: readonly number[], { stalls, outage: { from, until } }: Run): number {
  const times = [from, ...seenAt.filter((at) => at > from).sort((a, b) => a - b)];
  const gaps = times.slice(1).map((at, i) => ({ began: times[i] as number, ended: at }));
  const [longest] = gaps.filter(({ began }) => began <= until).sort((a, b) => b.ended - b.began - (a.ended - a.began));
  if (longest === undefined) return Number.POSITIVE_INFINITY;
  return longest.ended - from - stalls.between(from, longest.ended);
}

/** List all timeouts of the run. */
export const timeoutsIn = ({ history, dump, outage, installation: { settings } }: Run): Timeout[] =>
  timeoutsOf(evidenceOf({ entries: history.entries, dump, outages: [outage], settings }));

export interface LateOptions {
  limitMs?: number; // Default: the limit for a fault that leaves a scheduler running.
  timeouts?: readonly Timeout[]; // Default all.
  excusedMs?: (timeout: Timeout) => number; // Time in which no scheduler could handle it, milliseconds. Default 0.
}

/** Report timeouts that were too late, whatever was unavailable (P4). */
export function lateTimeouts(run: Run, options: LateOptions = {}): Finding[] {
  const { limitMs = LATE_UNDER_FAULT_MS, timeouts = timeoutsIn(run), excusedMs = () => 0 } = options;
  const all = timeouts.map((one) => ({ ...one, lateMs: one.at - one.due - excusedMs(one) }));
  run.figures['latest timeout, ms'] = Math.max(0, ...all.map(({ lateMs }) => lateMs));
  return all
    .filter(({ lateMs }) => lateMs > limitMs)
    .map(({ jobId, event, lateMs, due, at }) => {
      const says = `${event.type} (${event.id}) came ${lateMs} ms late, where ${limitMs} are allowed`;
      return { jobId, promise: 'P4', damage: 'late', says, during: { from: due, until: at } };
    });
}

/** Report streams that were cut with another code. If no stream was cut, report that the fault did nothing (P8). */
export function cutsOtherThan(code: number, { history, figures }: Run): Finding[] {
  const cut = history.ofKind('stream').filter(isCut);
  const others = cut.filter(({ closed }) => closed !== code);
  const hits = cut.length - others.length;
  figures[`streams closed ${code}`] = hits;
  if (hits === 0) return [{ promise: 'P8', says: `no stream was closed with ${code}` }];
  return others.map(({ jobId, client, closed, line }) => {
    const says = `stream of ${client} was closed with ${closed} instead of ${code}`;
    return { promise: 'P8', jobId, says, lines: [line] };
  });
}

/** Report printed lines that are not JSON, such as warnings of Node.js, because programs read the logs. */
export const strayPrints = (apps: readonly AppProcess[]): Finding[] =>
  apps.flatMap(({ name, output }) => {
    const isStray = (line: string) => line !== '' && line !== STARTED_AGAIN && !/^\{.*\}$/.test(line);
    const stray = output().split('\n').filter(isStray).slice(0, 3);
    return stray.map((line) => ({ says: `${name} printed: ${line}` }));
  });

/** Watch the memory of processes of one kind (0 outside Linux). @returns function that stops, and reports too much memory */
export function limitMemory({ figures, found }: FaultContext, apps: readonly AppProcess[], mostMb: number): () => void {
  let mb = 0;
  const timer = setInterval(() => {
    for (const app of apps) mb = Math.max(mb, residentMb(app.pid()));
  }, 100);
  return () => {
    clearInterval(timer);
    const what = `${apps[0]?.name.replace(/-.*/, '')} MB`;
    figures[what] = mb;
    if (mb > mostMb) found(`${mb} ${what} are more than ${mostMb}`);
  };
}

/** Read the resident memory of a process in MB; 0 once it has ended. */
export function residentMb(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes ?? 0) / 1_024);
  } catch {
    return 0; // The process was just killed.
  }
}
