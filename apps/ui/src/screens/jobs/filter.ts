import type { Status } from '@yardmaster/protocol';
import { STATUSES } from '@yardmaster/protocol/statuses';
import type { Query } from '../../api/client.js';
import { serviceTime } from '../../live/clock.js';
import type { Filter } from '../bulk.js';

/** What the list of jobs shows. All of it is in the URL. */
export interface JobsFilter {
  /** Empty for all. */
  statuses: Status[];
  names: string[];
  tags: string[];
  /** Hours since the creation; null for any. */
  sinceHours: number | null;
  /** Hours that have passed since the creation at least; null for any. */
  beforeHours: number | null;
  /** Text of payload, result or error; empty for any. */
  q: string;
  /** Page; null for the newest jobs. */
  cursor: string | null;
}

export const PAGE_SIZE = 100;

/** Most hours of `since` and `before`: a hundred years, before which there are no jobs. */
const HOURS_MAX = 876_000;

const isHours = (text: string) => Number(text) > 0 && Number(text) <= HOURS_MAX;
const isGiven = (text: string) => text !== '';
const isStatus = (text: string): text is Status => (STATUSES as readonly string[]).includes(text);

/** Which values each parameter may have. */
const PARAMETERS: Record<string, (text: string) => boolean> = {
  status: isStatus,
  name: isGiven,
  tag: isGiven,
  since: isHours,
  before: isHours,
  q: () => true,
  cursor: isGiven,
};

/**
 * Return the first parameter that the list does not have, or whose value is impossible, such as `status=ded`; undefined without
 * one. A list that ignored it would show all jobs, and its buttons would be about all of them.
 */
export function unknownFilterIn(query: URLSearchParams): string | undefined {
  const found = [...query].find(([name, value]) => !(Object.hasOwn(PARAMETERS, name) && PARAMETERS[name]?.(value)));
  return found?.join('=');
}

export function filterOf(query: URLSearchParams): JobsFilter {
  const hours = (name: string) => (query.has(name) ? Number(query.get(name)) : null);
  return {
    statuses: query.getAll('status').filter(isStatus),
    names: query.getAll('name'),
    tags: query.getAll('tag'),
    sinceHours: hours('since'),
    beforeHours: hours('before'),
    q: query.get('q') ?? '',
    cursor: query.get('cursor'),
  };
}

/** Return the times between which the jobs were created, as the API takes them. */
function createdOf({ sinceHours, beforeHours }: JobsFilter): { createdAfter?: string; createdBefore?: string } {
  const ago = (hours: number) => new Date(serviceTime() - hours * 3_600_000).toISOString();
  return {
    ...(sinceHours !== null && { createdAfter: ago(sinceHours) }),
    ...(beforeHours !== null && { createdBefore: ago(beforeHours) }),
  };
}

/** Return the query of List Jobs. */
export function listQuery(filter: JobsFilter, limit: number): Query {
  const { statuses, names, tags, q, cursor } = filter;
  return { status: statuses, name: names, tag: tags, q, ...createdOf(filter), cursor, limit };
}

/** Return the filter of an operation on all jobs of the list with one of these statuses. */
export function operationFilter(filter: JobsFilter, status: Status[]): Filter {
  const { names, tags, q } = filter;
  return {
    status,
    ...(names.length > 0 && { names }),
    ...(tags.length > 0 && { tags }),
    ...(q !== '' && { q }),
    ...createdOf(filter),
  };
}
