import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { anObject, boundedText, integerBetween, withDefault } from '../schema/fields.js';
import { count } from '../schema/response-fields.js';

/** How long a job holds its unique key. */
const UNTIL = ['ended', 'started', 'expired'] as const;

/** What create does if another job holds the key. */
const ON_CONFLICT = ['return', 'reject', 'replace'] as const;

const TTL_RULE = 'is required with until: expired, and refused otherwise';

const key = boundedText(LIMITS.uniqueKeyCharacters).describe(
  'Unique key of the job, among the jobs with the same name in the space',
);

/** Make the schema of `unique`: create the job only if no other job holds this key. */
export const uniqueSchema = (meta: { id: string; additionalProperties?: false }) =>
  z
    .object(
      {
        key,
        until: withDefault(z.enum(UNTIL, { error: `must be one of ${UNTIL.join(', ')}` }), 'ended').describe(
          'When the job frees the key: when it has ended, when it is acked (`started`), or after `ttlSeconds` (`expired`)',
        ),
        onConflict: withDefault(
          z.enum(ON_CONFLICT, { error: `must be one of ${ON_CONFLICT.join(', ')}` }),
          'return',
        ).describe(
          'What to do if another job holds the key: return that job, reject the call with `JOB_NOT_UNIQUE`, or replace that job while it is still pending or scheduled',
        ),
        ttlSeconds: integerBetween(1, LIMITS.uniqueTtlSecondsMax)
          .nullable()
          .default(null)
          .describe('Number of seconds, from creation, that the job holds the key; only with `until: expired`'),
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
    .meta(meta);

/** Field `unique` of Create Job. */
export const uniqueRequest = uniqueSchema({ id: 'UniqueRequest' });
export type UniqueRequest = z.output<typeof uniqueRequest>;

/** Field `unique` of a job: the key, and the members that are not at their defaults. */
export const unique = z
  .object({
    key: z.string(),
    until: z.enum(UNTIL).optional(),
    onConflict: z.enum(ON_CONFLICT).optional(),
    ttlSeconds: count.optional(),
  })
  .meta({ id: 'Unique' });
export type Unique = z.output<typeof unique>;

/** Format a unique key for a response, without members that are at their defaults. */
export function uniqueOf({ key, until, onConflict, ttlSeconds }: UniqueRequest): Unique {
  return {
    key,
    ...(until !== 'ended' && { until }),
    ...(onConflict !== 'return' && { onConflict }),
    ...(ttlSeconds !== null && { ttlSeconds }),
  };
}
