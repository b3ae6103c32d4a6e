import { replay } from '../../test/model/index.js';
import { type PromiseId, ruleForEachJob, type Stopped, type StoredCase } from './rule.js';

/**
 * The history and the record of a job follow the specification: every transition is allowed (P3), no window ends early (P4),
 * callbacks are retried at the right times (P6).
 */
export const histories = ruleForEachJob('histories', 'P3', (one, { settings, outages }) => {
  const { job, calls } = one;
  const keepalives = calls.filter(({ op, outcome }) => op === 'keepalive' && outcome === 'ok');
  const says = replay(job, settings, { keepalives, redeliveries: redeliveriesOf(one) });
  const isExcused = (by: Stopped) => outages.some(({ stops }) => stops.includes(by));
  if (says === null || (isEarlyRetry(says) && isExcused('clock')) || (isOfError(says) && isExcused('errors')))
    return [];
  return [{ promise: promiseOf(says), says }];
});

/** Count the redeliveries of a callback that may have been requested. */
export const redeliveriesOf = ({ calls }: StoredCase) =>
  calls.filter(({ op, outcome }) => op === 'redeliver' && outcome !== 'refused').length;

const isOfError = (says: string) => says.startsWith('error is ');

const isEarlyRetry = (says: string) => says.startsWith('callback_') && says.endsWith('ms too soon');

/** Return the promise that a disagreement breaks. */
function promiseOf(says: string): PromiseId {
  if (says.includes('before the window was over')) return 'P4';
  return says.startsWith('callback_') ? 'P6' : 'P3';
}
