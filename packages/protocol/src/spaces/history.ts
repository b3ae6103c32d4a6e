import { z } from 'zod';
import { describeAs } from '../schema/describe.js';
import { once, timestampMs } from '../schema/fields.js';
import { count, instant } from '../schema/response-fields.js';

/** Name under which a history counts the names beyond its first 100. */
export const OTHER_NAMES = '*';

/** Seconds from one point of a history to the next. */
export type HistoryStep = 60 | 3600;

const step = describeAs(
  once(z.enum(['60', '3600'], { error: 'must be 60 or 3600' })).transform((text) => Number(text) as HistoryStep),
  z.number().meta({ type: 'integer', enum: [60, 3600] }),
);

/** Query of Get Space History (our addition). */
export const historyQuery = z.object({
  from: once(timestampMs)
    .optional()
    .transform((ms) => ms ?? null)
    .describe('Default: 1 hour of minutes or 24 of hours'),
  to: once(timestampMs)
    .optional()
    .transform((ms) => ms ?? null)
    .describe('Default: now'),
  step: step
    .default(60)
    .describe('Seconds from one point to the next: minutes are kept for 48 hours, hours for 35 days'),
});
export type HistoryQuery = z.output<typeof historyQuery>;

const duration = z
  .object({
    count: count.describe('How often it was measured'),
    sum: z.number().describe('All of them together, in seconds'),
    buckets: z
      .record(z.string(), count)
      .describe(
        'Non-cumulative histogram keyed by upper bound in seconds, `more` for more than a day; empty buckets are left out',
      ),
  })
  .meta({ id: 'Duration' });

/** What happened to the jobs of one name in the time of one point. */
export const nameHistory = z
  .object({
    created: count,
    completed: count,
    retried: count.describe('Attempts that failed or timed out, with another one to follow'),
    dead: count,
    killed: count,
    deliveryTimeouts: count.describe('Deliveries without an ack in time, after which the job was pending again'),
    runTimeouts: count.describe('Attempts without a heartbeat in time, or longer than `maxRunSeconds`'),
    waitSeconds: duration.describe('From when a job became pending, or was changed while pending, to its delivery'),
    runSeconds: duration.describe('From the ack to the end of an attempt that completed, failed or timed out'),
  })
  .meta({ id: 'NameHistory' });
export type NameHistory = z.output<typeof nameHistory>;

/** Response of Get Space History. */
export const spaceHistory = z
  .object({
    spaceId: z.string(),
    step: describeAs(z.custom<HistoryStep>(), z.number().meta({ type: 'integer', enum: [60, 3600] })),
    points: z
      .array(
        z.object({
          at: instant.describe('Beginning of the minute or the hour'),
          names: z
            .record(z.string(), nameHistory)
            .describe('By name; `*` for names beyond the first 100 of this minute or hour'),
        }),
      )
      .describe('Oldest first; those in which nothing happened are left out'),
  })
  .meta({ id: 'SpaceHistory' });
export type SpaceHistory = z.output<typeof spaceHistory>;
