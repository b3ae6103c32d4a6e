import { z } from 'zod';
import { STATUSES } from './status.js';

// Fields that several answers have. Answers are not checked by these schemas when they are sent: types and the OpenAPI
// document come from them, and tests hold real answers against them.

/** A moment, by the clock of Redis. */
export const instant = z.iso.datetime({ precision: 3 }).meta({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', // In short; zod's own also counts the days of February.
  description: 'ISO 8601, UTC, milliseconds',
});

export const jobStatus = z.enum(STATUSES).describe('Where the job is in its life');

/** How often, or the number of something in a row. */
export const count = z.number().min(0).meta({ type: 'integer' });

export const jobIdField = z.string().describe('28 characters; not guessable');

/** Answer of the endpoints that have nothing to tell but that it is done. */
export const doneAnswer = z.object({ success: z.literal(true) });
