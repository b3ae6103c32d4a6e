import { LOG_LEVELS, STATUSES } from '@yardmaster/protocol';
import { type Fault, isName, unclear, unless, wrong } from './fault.js';
import type { Query } from './queries.js';

type Values = (name: string) => string[];
type Check = (values: Values) => Fault[];

/** A whole number, given at most once, and not below another one. */
const wholeNumber =
  (name: string, min: number): Check =>
  (values) => {
    const given = values(name);
    return unless(
      given.length === 0 || (given.length === 1 && /^-?\d+$/.test(given[0] as string) && Number(given[0]) >= min),
      wrong(name),
    );
  };

const oneOf =
  (name: string, list: readonly string[]): Check =>
  (values) => {
    const given = values(name);
    return unless(given.length === 0 || (given.length === 1 && list.includes(given[0] as string)), wrong(name));
  };

const levels: Check = (values) =>
  unless(
    values('level')
      .flatMap((each) => each.split(','))
      .every((each) => (LOG_LEVELS as readonly string[]).includes(each.trim())),
    wrong('level'),
  );

const search: Check = (values) => {
  const [q = '', ...more] = values('q');
  if (more.length > 0 || q.length > 500) return [wrong('q')];
  const words = q.split(/\s+/).length;
  return words <= 32 ? [] : [q.includes('"') || words <= 34 ? unclear(wrong('q')) : wrong('q')];
};

const notBoth: Check = (values) =>
  unless(values('after').length === 0 || values('before').length === 0, wrong('after'));

const names: Check = (values) => unless(values('name').length <= 100 && values('name').every(isName), wrong('name'));

/** What each query may be, by method and path. */
export const QUERY_CHECKS: Record<string, readonly Check[]> = {
  'GET /api/v1/spaces/:spaceId/jobs': [oneOf('status', STATUSES), wholeNumber('limit', 1), wholeNumber('offset', 0)],
  'GET /api/v1/spaces/:spaceId/stats': [wholeNumber('limit', 1), names],
  'GET /api/v1/jobs/:jobId/logs': [
    wholeNumber('limit', 1),
    wholeNumber('after', 0),
    wholeNumber('before', 0),
    levels,
    search,
    notBoth,
  ],
};

/** The fields that each takes. */
export const QUERY_FIELDS: Record<string, readonly string[]> = {
  'GET /api/v1/spaces/:spaceId/jobs': ['status', 'limit', 'offset'],
  'GET /api/v1/spaces/:spaceId/stats': ['limit', 'name'],
  'GET /api/v1/jobs/:jobId/logs': ['limit', 'after', 'before', 'level', 'q'],
};

/** The faults of a query; what no field of the endpoint is, is ignored. */
export function queryFaults(name: string, { pairs }: Query): Fault[] {
  const checks = QUERY_CHECKS[name] ?? [];
  if (pairs === null) return checks.length === 0 ? [] : [unclear(wrong('query', ...(QUERY_FIELDS[name] ?? [])))];
  return checks.flatMap((check) =>
    check((field) => pairs.filter(([each]) => each === field).map(([, value]) => value)),
  );
}
