import type { Status } from '@yardmaster/protocol';
import { STATUSES } from '@yardmaster/protocol/statuses';
import type { Query } from '../../api/client.js';
import { serviceTime } from '../../live/clock.js';
import type { Filter } from '../bulk.js';

/** Filter and page of the list of jobs. Both are in the URL. */
export interface JobsFilter {
  /** Empty for all statuses. */
  statuses: Status[];
  names: string[];
  tags: string[];
  /** Maximum hours since creation; null for any. */
  sinceHours: number | null;
  /** Minimum hours since creation; null for any. */
  beforeHours: number | null;
  /** Text that the payload, result or error must contain; empty for any. */
  q: string;
  /** Cursor of the page; null for the newest jobs. */
  cursor: string | null;
}

export const PAGE_SIZE = 100;

/** Maximum of `since` and `before`, in hours: a hundred years. No job is older. */
const HOURS_MAX = 876_000;

const isHours = (text: string) => Number(text) > 0 && Number(text) <= HOURS_MAX;
const isGiven = (text: string) => text !== '';
const isStatus = (text: string): text is Status => (STATUSES as readonly string[]).includes(text);

/** Check of the values of each parameter. */
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
 * Return the first parameter that is unknown or has an invalid value, such as `status=ded`; undefined if there is no such
 * parameter. If the list ignored it, its buttons would affect all jobs.
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

/** Return the range of creation times, as fields of the API. */
function createdOf({ sinceHours, beforeHours }: JobsFilter): { createdAfter?: string; createdBefore?: string } {
  const ago = (hours: number) => new Date(serviceTime() - hours * 3_600_000).toISOString();
  return {
    ...(sinceHours !== null && { createdAfter: ago(sinceHours) }),
    ...(beforeHours !== null && { createdBefore: ago(beforeHours) }),
  };
}

/** Return the query for a page of jobs. */
export function listQuery(filter: JobsFilter, limit: number): Query {
  const { statuses, names, tags, q, cursor } = filter;
  return { status: statuses, name: names, tag: tags, q, ...createdOf(filter), cursor, limit };
}

/** Return the filter of an operation on all jobs in the list that have one of these statuses. */
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
