import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { anObject, boundedText, integerBetween, withDefault } from '../schema/fields.js';
import { count } from '../schema/response-fields.js';

/** Until when a job occupies its unique key. */
const UNTIL = ['ended', 'started', 'expired'] as const;

/** What create does when another job occupies the key. */
const ON_CONFLICT = ['return', 'reject', 'replace'] as const;

const TTL_RULE = 'is required with until: expired, and refused otherwise';

const key = boundedText(LIMITS.uniqueKeyCharacters).describe('Compared among the jobs of this name in the space');

/** Field `unique` of Create Job: create the job only if no other job occupies this key. */
export const uniqueRequest = z
  .object(
    {
      key,
      until: withDefault(z.enum(UNTIL, { error: `must be one of ${UNTIL.join(', ')}` }), 'ended').describe(
        'When the key is free again: when the job has ended, when it was acked, or after `ttlSeconds`',
      ),
      onConflict: withDefault(
        z.enum(ON_CONFLICT, { error: `must be one of ${ON_CONFLICT.join(', ')}` }),
        'return',
      ).describe('Return the other job, refuse with `JOB_NOT_UNIQUE`, or replace the other job while it is pending'),
      ttlSeconds: integerBetween(1, LIMITS.uniqueTtlSecondsMax)
        .nullable()
        .default(null)
        .describe('With `until: expired`: how long the key is occupied, from the creation of the job'),
    },
    anObject,
  )
  .refine(({ until, ttlSeconds }) => (until === 'expired') === (ttlSeconds !== null), {
    path: ['ttlSeconds'],
    error: TTL_RULE,
  })
  .meta({
    if: { properties: { until: { const: 'expired' } }, required: ['until'] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { properties: { ttlSeconds: { type: 'integer' } }, required: ['ttlSeconds'] },
    else: { properties: { ttlSeconds: { type: 'null' } } },
  })
  .meta({ id: 'UniqueRequest' });
export type UniqueRequest = z.output<typeof uniqueRequest>;

/** Field `unique` of a job: the key, and the other members that are not at their defaults. */
export const unique = z
  .object({
    key: z.string(),
    until: z.enum(UNTIL).optional(),
    onConflict: z.enum(ON_CONFLICT).optional(),
    ttlSeconds: count.optional(),
  })
  .meta({ id: 'Unique' });
export type Unique = z.output<typeof unique>;

/** Return the key of a job as the job shows it, without the members that are at their defaults. */
export function uniqueOf({ key, until, onConflict, ttlSeconds }: UniqueRequest): Unique {
  return {
    key,
    ...(until !== 'ended' && { until }),
    ...(onConflict !== 'return' && { onConflict }),
    ...(ttlSeconds !== null && { ttlSeconds }),
  };
}
