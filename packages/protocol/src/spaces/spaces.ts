import { z } from 'zod';
import { spaceStats } from '../jobs/stats.js';
import { LIMITS } from '../limits.js';
import { once, queryInteger, spaceId } from '../schema/fields.js';

/** Query of List Spaces (our addition). */
export const spacesQuery = z.object({
  limit: queryInteger(1, LIMITS.spacesMax)
    .default(LIMITS.spacesDefault)
    .describe(`Spaces in the response; above ${LIMITS.spacesMax} is served as ${LIMITS.spacesMax}`),
  cursor: once(spaceId)
    .optional()
    .transform((text) => text ?? null)
    .describe('`nextCursor` of the page before'),
});
export type SpacesQuery = z.output<typeof spacesQuery>;

/** Response of List Spaces. */
export const spaceList = z
  .object({
    spaces: z
      .array(spaceStats.pick({ spaceId: true, jobs: true, oldestPendingAgeSeconds: true }).meta({ id: 'Space' }))
      .describe('Spaces that have jobs, in an order that stays'),
    nextCursor: z.string().nullable().describe('For the next page; null when this is the last'),
  })
  .meta({ id: 'SpaceList' });
export type SpaceList = z.output<typeof spaceList>;
