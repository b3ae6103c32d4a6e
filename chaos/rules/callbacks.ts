import { isDeepStrictEqual } from 'node:util';
import { CALLBACK_ENDS } from '@yardmaster/protocol';
import type { DumpedJob } from '../checker/dump.js';
import type { Callback } from '../checker/history.js';
import type { Span } from '../checker/stalls.js';
import { type Damage, linesOf, type Outage, ruleForEachJob, type StoredCase } from './rule.js';
import { stopsSchedulers } from './timeouts.js';

/** Parts of the URLs of receivers that read no request, and of receivers that do not respond to the first request. */
export const UNREAD = '/unread/';
export const HANGS = '/hangs/';

/** How many POSTs of a job may be repeated because no scheduler could record them: one per lost process. */
const REPEATED_AT_MOST = 2;
/** They must be received during an outage of Redis or a scheduler, just after it, or less than an attempt before it. */
const UNRECORDED_BEFORE_MS = 12_000;
const UNRECORDED_AFTER_MS = 2_000;

/**
 * The callback of an ended job is sent at least once, with a single ID, and all attempts are recorded. No callback is sent for
 * a job that has not ended, or whose final status triggers none (P6). The rule `histories` checks the times of attempts.
 */
export const callbacks = ruleForEachJob('callbacks', 'P6', (one, { settings, outages }) => {
  const { job, callbacks: received } = one;
  const lines = linesOf(received);
  const end = job.events.find(({ type }) => endsOf(job).includes(type));
  if (end === undefined || job.callbackUrl === null)
    return received.length === 0 ? [] : [{ says: `a callback came for it, although it is ${job.status}`, lines }];
  const result = job.status === 'completed' ? job.result : end.data;
  const isOther = ({ body }: Callback) => body.status !== job.status || !isDeepStrictEqual(body.result, result);
  const recorded = job.events.filter(({ type }) => type.startsWith('callback_'));
  const last = recorded.at(-1)?.data as { willRetry: boolean } | undefined;
  const sent = recorded.filter(({ type }) => type === 'callback_sent').length;
  const atMost = (1 + redeliveriesOf(one)) * (settings.callbackDelays.length + 1);
  const mayBeRepeated = received.filter(({ at }) => outages.some((outage) => mayRepeat(outage, at, job))).length;
  const isRepeated = received.length > recorded.length + Math.min(REPEATED_AT_MOST, mayBeRepeated);
  // On a slow machine, a scheduler and the one that took over may both have been too late to record an attempt.
  const mayBeSlow = received.length <= recorded.length + REPEATED_AT_MOST;
  const during = { from: received[0]?.at ?? 0, until: (received.at(-1)?.at ?? 0) + UNRECORDED_AFTER_MS };
  const faults: [isSo: boolean | undefined, damage: Damage, says: string, during?: Span | false][] = [
    [received.some(({ at }) => at < Date.parse(end.createdAt)), 'other', 'came before its end'],
    [received.length === 0 && !job.callbackUrl.includes(UNREAD), 'lost', 'never came'],
    [new Set(received.map(({ id }) => id)).size > 1, 'duplicated', 'came under several ids'],
    [received.some(({ id }) => id === null), 'other', 'came without an id'],
    [received.some(isOther), 'other', 'reported a different outcome'],
    [recorded.length === 0, 'lost', 'has no recorded attempt'],
    [last?.willRetry || job.isCallbackPending, 'late', 'is not settled'],
    [recorded.length > atMost, 'duplicated', `has ${recorded.length} attempts, which are more than ${atMost}`],
    [sent > received.length, 'other', `is recorded as sent ${sent} times, but came ${received.length} times`],
    [
      isRepeated,
      'duplicated',
      `came ${received.length} times, but ${recorded.length} attempts are recorded`,
      mayBeSlow && during,
    ],
  ];
  return faults
    .filter(([isSo]) => isSo)
    .map(([, damage, says, span]) => ({ damage, says: `its callback ${says}`, lines, ...(span && { during: span }) }));
});

/** Return the events that trigger the callback of a job. */
export const endsOf = ({ callbackOn }: Pick<DumpedJob, 'callbackOn'>): readonly string[] => callbackOn ?? CALLBACK_ENDS;

/** Check whether a callback at this time may have been repeated because no scheduler could record it. */
function mayRepeat(outage: Outage, at: number, { callbackUrl }: DumpedJob): boolean {
  const isGivenUp = outage.stops.includes('hanging callbacks') && callbackUrl?.includes(HANGS);
  if (!isGivenUp && !stopsSchedulers(outage)) return false;
  return at >= outage.from - UNRECORDED_BEFORE_MS && at <= outage.until + UNRECORDED_AFTER_MS;
}

/** Count the redeliveries of a callback that may have been requested. */
export const redeliveriesOf = ({ calls }: StoredCase) =>
  calls.filter(({ op, outcome }) => op === 'redeliver' && outcome !== 'refused').length;
