import { ERRORS, type ErrorCode, refusalOf, STATUSES, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import type { Route } from '../route.js';
import { OPERATIONS } from './operations.js';

/** Codes with which any operation may respond. */
const ANYWHERE: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'INTERNAL',
  'UNAVAILABLE',
  'OVERLOADED',
];

/** Return the codes with which an endpoint may refuse a call, in the order of the catalogue. */
export function refusalsOf(route: Route): ErrorCode[] {
  const { trigger, refusals = [] } = OPERATIONS[route.operation];
  const codes = new Set<ErrorCode>([...ANYWHERE, ...refusals]);
  if (route.path.includes(':jobId')) codes.add('JOB_NOT_FOUND');
  if (route.path.includes(':keyId')) codes.add('KEY_NOT_FOUND');
  if (route.body !== undefined || route.read !== undefined) codes.add('TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  if (trigger !== undefined) for (const code of refusedTransitions(trigger)) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Return how a trigger is refused in the statuses that have no row for it. */
function refusedTransitions(trigger: Trigger): ErrorCode[] {
  const allowed = TRANSITIONS.filter((row) => row.trigger === trigger).flatMap(({ from }) => from);
  return STATUSES.filter((status) => !allowed.includes(status))
    .map((status) => refusalOf(trigger, status))
    .filter((code) => code !== null);
}
