import { z } from 'zod';
import { STATUSES } from '../jobs/statuses.js';
import { describeAs } from './describe.js';

// Fields that several responses share. Responses are not checked against these schemas when they are sent: types and the
// OpenAPI document are derived from them, and tests check real responses.

/** A timestamp, by Redis's clock. */
export const instant = z.iso
  .datetime({ precision: 3 })
  .meta({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$', // Short; zod's own also counts the days of February.
    description: 'ISO 8601 timestamp in UTC, with milliseconds',
  })
  .meta({ id: 'Timestamp' });

export const jobStatus = z.enum(STATUSES).describe('Status of the job').meta({ id: 'JobStatus' });

/** A number of things, or the position of one in a sequence. */
export const count = z.number().min(0).meta({ type: 'integer' });

export const jobIdField = z.string().describe('Unguessable ID of 28 characters');

/** Always true. Described as any boolean, because many code generators have no type for a constant. */
export const success = describeAs(z.literal(true), z.boolean().describe('Always true'));

/** Response of endpoints that report only that the request is done. */
export const doneResponse = z.object({ success }).meta({ id: 'Done' });
