import { foldCase, type JobFilter, type ListedJob, type ListJobsQuery } from '@yardmaster/protocol';
import type { Store } from '../../store.js';
import { scheduleLabel } from '../labels.js';
import type { JobRecord } from '../read/record.js';

/** A range of creation orders: at least `from`, and less than `below`. */
export interface Places {
  from: number;
  below: number;
}

/** Orders per millisecond; see nextOrder in lua/queue.lua. */
const PLACES_PER_MS = 1_024;

/** Return the range of jobs created within the times of a filter. */
export const placesOf = ({
  createdAfter,
  createdBefore,
}: Pick<JobFilter, 'createdAfter' | 'createdBefore'>): Places => ({
  from: createdAfter === null ? Number.NEGATIVE_INFINITY : createdAfter * PLACES_PER_MS,
  below: createdBefore === null ? Number.POSITIVE_INFINITY : createdBefore * PLACES_PER_MS,
});

/** Return the rest of a range after a place that was read. */
export function placesAfter(place: number, { from, below }: Places, order: ListJobsQuery['order']): Places {
  return order === 'desc' ? { from, below: Math.min(below, place) } : { from: Math.max(from, place + 1), below };
}

/** Decode `reached` of list.lua or find.lua; null after the last entry. */
export const reachedIn = (reached: string) => (reached === '' ? null : Number(reached));

/** Return the tags and labels that a job must have. */
export const tagsToMatch = ({ tags, schedule }: Pick<JobFilter, 'tags' | 'schedule'>): string[] =>
  schedule === null ? [...tags] : [...tags, scheduleLabel(schedule)];

/** Build the key and the arguments that list.lua and find.lua share. */
export function findInputs({ keys }: Store, spaceId: string, filter: JobFilter, { from, below }: Places) {
  return {
    keys: { jobs: keys.jobs(spaceId) },
    args: {
      base: keys.baseOfSpace(spaceId),
      space: spaceId,
      min: from === Number.NEGATIVE_INFINITY ? '-inf' : from,
      max: below === Number.POSITIVE_INFINITY ? '+inf' : `(${below}`,
      statuses: filter.statuses.join(' '),
      tags: tagsToMatch(filter).join('\n'),
    },
  };
}

/** Fields of a record that a text search covers, as JSON text. */
export const TEXT_FIELDS = ['payload', 'result', 'error'] as const;

/** Create a function that checks whether a payload, result or error contains a text, ignoring case. */
export function matchesText(q: string): (record: Pick<JobRecord, (typeof TEXT_FIELDS)[number]>) => boolean {
  const wanted = foldCase(q);
  return (record) =>
    TEXT_FIELDS.some((field) => {
      const text = record[field];
      // A null result never matches.
      return text && text !== 'null' ? foldCase(text).includes(wanted) : false;
    });
}

/** The next portion of a page to read. */
export interface PortionQuery extends Pick<ListJobsQuery, 'order' | 'limit'> {
  spaceId: string;
  places: ReturnType<typeof placesOf>;
  /** Maximum number of index entries to examine. */
  entries: number;
  /** Number of jobs to skip first. */
  skip: number;
}

/** A portion of a page. */
export interface Found {
  jobs: ListedJob[];
  /** Place of the last job examined; null when none is left. */
  reached: number | null;
}
