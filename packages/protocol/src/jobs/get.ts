import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { once, queryInteger } from '../schema/fields.js';
import { waitQuery } from './poll.js';

/** Which events of a job's history to read, oldest first. */
export interface EventRange {
  /** Seq after which they begin. `created` has the seq 1. */
  after: number;
  /** Most events, `created` counted. */
  limit: number;
}

export const ALL_EVENTS: EventRange = { after: 0, limit: Number.POSITIVE_INFINITY };
export const NO_EVENTS: EventRange = { after: 0, limit: 0 };

/** Query of Get Job. */
export const getJobQuery = z
  .object({
    ...waitQuery.shape,
    events: once(z.enum(['0', '1'], { error: 'must be 0 or 1' }))
      .default('1')
      .describe('0 leaves the history out'),
    eventsAfter: queryInteger(0, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Only events with a seq above this, the oldest of them'),
    eventsLimit: queryInteger(1, LIMITS.eventsMax)
      .optional()
      .describe(
        `Only so many events, the oldest; above ${LIMITS.eventsMax} is served as ${LIMITS.eventsMax}, which is also the default with \`eventsAfter\``,
      ),
  })
  .superRefine(({ events, eventsAfter, eventsLimit }, ctx) => {
    if (events === '1') return;
    const path = eventsAfter === undefined ? 'eventsLimit' : 'eventsAfter';
    if (eventsAfter !== undefined || eventsLimit !== undefined)
      ctx.addIssue({ code: 'custom', message: 'must be absent with events=0', path: [path] });
  })
  .transform(({ waitSeconds, events, eventsAfter, eventsLimit }) => ({
    waitSeconds,
    range: events === '0' ? NO_EVENTS : rangeOf(eventsAfter, eventsLimit),
  }));

function rangeOf(after: number | undefined, limit: number | undefined): EventRange {
  if (after === undefined && limit === undefined) return ALL_EVENTS;
  return { after: after ?? 0, limit: limit ?? LIMITS.eventsMax };
}
