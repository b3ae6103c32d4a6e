import { callbacks } from './callbacks.js';
import { claimedJob, claims, order } from './claims.js';
import { closes } from './closes.js';
import { creates } from './creates.js';
import { deliveries } from './deliveries.js';
import { effects, logs } from './effects.js';
import { histories } from './histories.js';
import { responses } from './responses.js';
import type { Rule } from './rule.js';
import { scopes, streams } from './streams.js';
import { drained, lateness } from './time-outs.js';

/** Records, indexes and histories agree (P16), whatever crashed before. */
const fsck: Rule = { name: 'fsck', promise: 'P16', check: ({ dump }) => dump.fsck.map((says) => ({ says })) };

const ofJobs = [creates, claims, claimedJob, order, histories, effects, deliveries, logs, lateness, drained];

/** Every rule. */
export const RULES: readonly Rule[] = [...ofJobs, callbacks, streams, closes, scopes, responses, fsck];
