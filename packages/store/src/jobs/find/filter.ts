import { foldCase, type JobFilter, type ListedJob, type ListJobsQuery } from '@yardmaster/protocol';
import type { Store } from '../../store.js';
import type { JobRecord } from '../read/record.js';

/** Part of a space by creation: places of jobs of at least `from` and below `below`. */
export interface Places {
  from: number;
  below: number;
}

/** Places in a millisecond, see nextOrder in lua/queue.lua. */
const PLACES_PER_MS = 1_024;

/** Return the places of the jobs that were created within the times of a filter. */
export const placesOf = ({
  createdAfter,
  createdBefore,
}: Pick<JobFilter, 'createdAfter' | 'createdBefore'>): Places => ({
  from: createdAfter === null ? Number.NEGATIVE_INFINITY : createdAfter * PLACES_PER_MS,
  below: createdBefore === null ? Number.POSITIVE_INFINITY : createdBefore * PLACES_PER_MS,
});

/** Leave out the places up to one that was read. */
export function goOnAfter(place: number, { from, below }: Places, order: ListJobsQuery['order']): Places {
  return order === 'desc' ? { from, below: Math.min(below, place) } : { from: Math.max(from, place + 1), below };
}

/** Return the place in a reply of list.lua or find.lua; null when no entry follows. */
export const reachedIn = (reached: string) => (reached === '' ? null : Number(reached));

/** Return the key and the arguments that list.lua and find.lua share. */
export function findInputs({ keys }: Store, spaceId: string, filter: JobFilter, { from, below }: Places) {
  return {
    keys: { jobs: keys.jobs(spaceId) },
    args: {
      base: keys.baseOfSpace(spaceId),
      space: spaceId,
      min: from === Number.NEGATIVE_INFINITY ? '-inf' : from,
      max: below === Number.POSITIVE_INFINITY ? '+inf' : `(${below}`,
      statuses: filter.statuses.join(' '),
      tags: filter.tags.join('\n'),
    },
  };
}

/** Fields of a record in which a text is looked for, as JSON text. */
export const TEXT_FIELDS = ['payload', 'result', 'error'] as const;

/** Create a function that returns whether the JSON text of a payload, result or error contains a text, in any case. */
export function matchesText(q: string): (record: Pick<JobRecord, (typeof TEXT_FIELDS)[number]>) => boolean {
  const wanted = foldCase(q);
  return (record) =>
    TEXT_FIELDS.some((field) => {
      const text = record[field];
      // A result of null is no result.
      return text && text !== 'null' ? foldCase(text).includes(wanted) : false;
    });
}

/** Which jobs to read next. */
export interface PortionQuery extends Pick<ListJobsQuery, 'order' | 'limit'> {
  spaceId: string;
  places: ReturnType<typeof placesOf>;
  /** Most entries of indexes to examine. */
  entries: number;
  /** Jobs to skip first. */
  skip: number;
}

/** A portion of a page. */
export interface Found {
  jobs: ListedJob[];
  /** Place of the last job that was examined; null when none is left. */
  reached: number | null;
}
