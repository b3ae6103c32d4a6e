import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { once, queryInteger } from '../schema/fields.js';
import { waitQuery } from './poll.js';

/** Selects events of a job's history, oldest first. */
export interface EventRange {
  /** Seq after which the range starts. `created` has seq 1. */
  after: number;
  /** Maximum number of events, including `created`. */
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
      .describe('Whether to include the history; `0` omits it'),
    eventsAfter: queryInteger(0, Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Return the oldest events with a `seq` above this value'),
    eventsLimit: queryInteger(1, LIMITS.eventsMax)
      .optional()
      .describe(
        `Maximum number of events to return, the oldest first; values above ${LIMITS.eventsMax} are capped at ${LIMITS.eventsMax}. Default: ${LIMITS.eventsMax} with \`eventsAfter\`, otherwise all`,
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
