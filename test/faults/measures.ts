import { evidenceOf } from './checker.js';
import type { Run } from './fault.js';
import type { Call } from './history.js';
import type { Lag } from './lag.js';
import type { Found } from './rules/rule.js';
import { type TimeOut, timeOutsOf } from './rules/time-outs.js';

/** What clients heard, of a run or a part of it, and the lateness of the test itself. */
interface Heard {
  history: { calls: readonly Call[] };
  lag: Lag;
}

/** Calls that were under way, or made, between the beginning of the outage and its end. */
export const callsDuring = ({ history, outage: { from, until } }: Run): Call[] =>
  history.calls.filter(({ sentAt, answeredAt }) => answeredAt >= from && sentAt <= until);

/**
 * How long after a moment the last call was made that was not served, milliseconds, less the time during which the test
 * itself was kept from running.
 */
export function servedAgainAfter({ history, lag }: Heard, since: number): number {
  const last = Math.max(
    since,
    ...history.calls.filter(({ outcome }) => outcome === 'unknown').map(({ sentAt }) => sentAt),
  );
  return Math.max(0, last - since - lag.between(since, last));
}

/**
 * After how long the longest silence was over that began, or went on, after a moment, milliseconds, less the test's own
 * lateness.
 *
 * @param heardAt when there was a sign of life, epoch milliseconds
 * @param until silence that begins later is of no account
 */
export function heardAgainAfter(heardAt: readonly number[], { lag, outage }: Run, until: number): number {
  const since = outage.from;
  const times = [since, ...heardAt.filter((at) => at > since).sort((a, b) => a - b)];
  let longest = 0;
  let over = since;
  for (let i = 1; i < times.length; i++) {
    const [before, at] = [times[i - 1] as number, times[i] as number];
    if (before <= until && at - before > longest) [longest, over] = [at - before, at];
  }
  return times.length === 1 ? Number.POSITIVE_INFINITY : over - since - lag.between(since, over);
}

/** The longest that one of some calls took, less the test's own lateness, milliseconds. */
export const slowestOf = ({ history, lag }: Heard) =>
  Math.max(0, ...history.calls.map(({ sentAt, answeredAt }) => answeredAt - sentAt - lag.between(sentAt, answeredAt)));

/** The same of those of an outage. */
export const slowestAnswer = (run: Run) => slowestOf({ history: { calls: callsDuring(run) }, lag: run.lag });

/** Calls of an outage that got no answer at all: no process of ours was away, so each must have had one (P12). */
export const unanswered = (run: Run): Found[] =>
  callsDuring(run)
    .filter(({ status }) => status === null)
    .map(({ jobId, op, body, line }) => ({
      jobId,
      promise: 'P12',
      says: `${op} got no answer: ${body}`,
      lines: [line],
    }));

/** What processes printed that is no line of their logs, such as warnings of Node.js. */
export const strayPrints = ({ installation: { apps } }: Run): Found[] =>
  apps.flatMap(({ name, output }) =>
    output()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'))
      .map((line) => ({ jobId: null, says: `${name} printed: ${line}` })),
  );

/** How often each code was answered during an outage. */
export function codesDuring(run: Run): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { code } of callsDuring(run)) if (code !== null) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}

/** When time-outs were met, epoch milliseconds, and how late each was. */
export const timeOutsIn = ({ history, dump, outage, installation: { settings } }: Run): TimeOut[] =>
  timeOutsOf(evidenceOf({ entries: history.entries, dump, outages: [outage], settings }));
