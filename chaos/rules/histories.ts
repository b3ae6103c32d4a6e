import { replay } from '../../test/model/index.js';
import { type PromiseId, ruleForEachJob, type StoredCase } from './rule.js';

/**
 * The history and the record of a job are what the specification makes of its events, one after the other: every
 * transition is allowed (P3), no window is closed early (P4), callbacks are retried as they should be (P6).
 */
export const histories = ruleForEachJob('histories', 'P3', (one, { settings, outages }) => {
  const { job, calls } = one;
  const keepalives = calls.filter(({ op, outcome }) => op === 'keepalive' && outcome === 'ok');
  const says = replay(job, settings, { keepalives, redeliveries: redeliveriesOf(one) });
  if (says === null || (isEarlyRetry(says) && outages.some(({ stops }) => stops.includes('clock')))) return [];
  return [{ promise: promiseOf(says), says }];
});

/** How often a callback may have been asked for again. */
export const redeliveriesOf = ({ calls }: StoredCase) =>
  calls.filter(({ op, outcome }) => op === 'redeliver' && outcome !== 'refused').length;

const isEarlyRetry = (says: string) => says.startsWith('callback_') && says.endsWith('ms too soon');

/** The promise that a disagreement breaks. */
function promiseOf(says: string): PromiseId {
  if (says.includes('before the window was over')) return 'P4';
  return says.startsWith('callback_') ? 'P6' : 'P3';
}
