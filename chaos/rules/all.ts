import { replay } from '../../test/model/index.js';
import { callbacks, redeliveriesOf } from './callbacks.js';
import { claimedJob, claims, order } from './claims.js';
import { closes } from './closes.js';
import { creates } from './creates.js';
import { deliveries } from './deliveries.js';
import { effects, fencing, logs } from './effects.js';
import { responses } from './responses.js';
import { type PromiseId, type Rule, ruleForEachJob } from './rule.js';
import { scopes, streams } from './streams.js';
import { drained, lateness } from './timeouts.js';
import { uniques } from './uniques.js';

/** Records, indexes and histories are consistent (P16), whatever crashed before. */
const fsck: Rule = { name: 'fsck', promise: 'P16', check: ({ dump }) => dump.fsck.map((says) => ({ says })) };

/**
 * The history and the record of a job follow the specification: every transition is allowed (P3), no window or delay ends
 * early (P4), and callbacks are retried at the right times (P6).
 */
const histories = ruleForEachJob('histories', 'P3', (one, { settings, outages }) => {
  const { job, calls } = one;
  const keepalives = calls.filter(({ op, outcome }) => op === 'keepalive' && outcome === 'ok');
  const says = replay(job, settings, { keepalives, redeliveries: redeliveriesOf(one) });
  if (says === null || (isOfStep(says) && outages.some(({ stops }) => stops.includes('clock')))) return [];
  return [{ promise: promiseOf(says), says }];
});

/**
 * Check whether a forward step of the clock explains a disagreement: a delay seems too short, or the start limit restarted,
 * because the step fell into it.
 */
const isOfStep = (says: string) =>
  (says.startsWith('callback_') && says.endsWith('ms too soon')) ||
  (says.startsWith('ready ') && says.endsWith('ms before the job was due')) ||
  /^delivery_timeout .* must be dead [\s\S]*Job was not started within/.test(says);

/** Return the promise that a disagreement breaks. */
function promiseOf(says: string): PromiseId {
  if (/came \d+ ms before/.test(says)) return 'P4';
  return says.startsWith('callback_') ? 'P6' : 'P3';
}

const ofJobs = [creates, claims, claimedJob, order, histories, effects, fencing, deliveries, logs, lateness, drained];

/** Every rule. */
export const RULES: readonly Rule[] = [...ofJobs, uniques, callbacks, streams, closes, scopes, responses, fsck];
