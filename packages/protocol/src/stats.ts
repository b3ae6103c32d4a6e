import { z } from 'zod';
import { queryInteger } from './fields.js';
import { LIMITS } from './limits.js';
import { nameOrNames } from './name-filter.js';
import type { Status } from './status.js';

/**
 * Query of Get Space Statistics (our addition). `name` may be repeated; there is no list with commas, since a name may
 * hold one.
 */
export const statsQuery = z
  .object({
    limit: queryInteger(1, LIMITS.statsNamesMax).default(LIMITS.statsNamesDefault),
    name: nameOrNames.optional(),
  })
  .transform(({ limit, name }) => ({
    limit,
    /** Empty: those with most jobs. */
    names: [...new Set(name ?? [])],
  }));
export type StatsQuery = z.output<typeof statsQuery>;

/** The jobs of one name. */
export interface NameStats {
  name: string;
  /** Jobs of any status. */
  total: number;
  pending: number;
  /** How long its next job has been waiting in the queue, with milliseconds; null when none waits. */
  oldestPendingAgeSeconds: number | null;
}

/** Answer of Get Space Statistics: the jobs of a space, counted at one moment. */
export interface SpaceStats {
  spaceId: string;
  /** The moment. */
  timestamp: string;
  jobs: Record<Status | 'total', number>;
  /** As in `names`, over all names. */
  oldestPendingAgeSeconds: number | null;
  /** Those asked for, in that order; else those with most jobs, the most first. */
  names: NameStats[];
  /** Names with jobs that are not in `names`. */
  namesLeftOut: number;
}
