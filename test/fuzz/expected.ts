import { ROUTES, type Route } from '@yardmaster/api';
import { ERRORS, type ErrorCode, type Scope } from '@yardmaster/protocol';
import { bodyFaults } from './body-faults.js';
import type { Reading } from './fault.js';
import { jobRefusals } from './job-rules.js';
import { KEYS, type KeyName } from './keys.js';
import { queryFaults } from './query-readings.js';
import type { FuzzRequest } from './request.js';
import { nameOf, readsBody } from './route-names.js';

/** An answer that is right. */
export interface Outcome {
  status: number;
  code: ErrorCode | null;
  /** Beginnings of the sentence; empty where the code says it all. */
  at: readonly string[];
}

export interface Expected {
  /** Null where what it means is left to the service: whatever it answers, it must do so well. */
  outcomes: Outcome[] | null;
  /** It may also be left without an answer, when its connection is closed. */
  mayClose: boolean;
  /** The row that serves it, when one does. */
  route: Route | null;
  /** What its body says, when it is taken. */
  value?: unknown;
}

const refusal = (code: ErrorCode, at: readonly string[] = []): Outcome => ({ status: ERRORS[code].status, code, at });

/** More than this of a head may be too much. */
const LONG_HEAD = 14_000;

const headBytes = ({ key, requestId, target, query, framing }: FuzzRequest) =>
  [...key.lines, ...requestId].reduce(
    (sum, [, value]) => sum + value.length,
    target.text.length + query.text.length + framing.lines.length,
  );

/** What `jobs:worker` covers (spec §5.4). */
const WORKER: readonly Scope[] = [
  'jobs:read',
  'jobs:poll',
  'jobs:ack',
  'jobs:progress',
  'jobs:event',
  'jobs:complete',
  'jobs:fail',
  'jobs:keepalive',
  'jobs:read:progress',
];

function keyRefusal(name: KeyName | null, { scopes, path }: Route): Outcome | null {
  const key = name === null ? null : KEYS[name];
  if (key === null || 'is' in key) return refusal('UNAUTHENTICATED');
  if (key.scopes === null) return null;
  const grants: readonly Scope[] = key.scopes.flatMap((scope: Scope) => (scope === 'jobs:worker' ? WORKER : [scope]));
  if (!scopes.some((scope) => grants.includes(scope))) return refusal('FORBIDDEN');
  return name === 'ofJobs' && path.includes(':spaceId') ? refusal('FORBIDDEN') : null;
}

/** The row for a method, as HEAD is served by that of GET. */
const rowOf = ({ route, method }: FuzzRequest) =>
  ROUTES.find((row) => row.path === route.path && row.method === (method === 'HEAD' ? 'GET' : method)) ?? null;

function readingOf(request: FuzzRequest, route: Route): Reading {
  if (route.query) return { faults: queryFaults(nameOf(route), request.query) };
  return readsBody(route) ? bodyFaults(nameOf(route), request.body) : { faults: [] };
}

const only = (...outcomes: Outcome[]): Expected => ({ outcomes, mayClose: false, route: null });

/**
 * What the specification lets the service answer, in the order of its checks: path, key, scope, body, job. Of several
 * faults of a body any may be named.
 */
export function expectedOf(request: FuzzRequest): Expected {
  const { framing, target, method, key } = request;
  if (framing.is === 'refused') {
    const outcomes = [
      refusal('INVALID_REQUEST', ['request', 'headers', 'Host']),
      { ...refusal('INVALID_REQUEST'), status: 431 },
    ];
    return { outcomes, mayClose: true, route: null };
  }
  const route = rowOf(request);
  if (framing.is === 'cut') return { outcomes: null, mayClose: true, route };
  if (target.is === 'unclear' || headBytes(request) > LONG_HEAD) return { outcomes: null, mayClose: false, route };
  if (target.is === 'nothing') return only(refusal('NOT_FOUND'));
  if (target.is === 'path') return only(refusal('INVALID_REQUEST', ['path']));
  if (route === null)
    return only(method === 'OPTIONS' ? { status: 204, code: null, at: [] } : refusal('METHOD_NOT_ALLOWED'));
  if (target.is === 'space') return only(refusal('INVALID_REQUEST', ['spaceId']));
  const refused = keyRefusal(key.name, route);
  return refused === null ? inputExpected(request, route) : only(refused);
}

function inputExpected(request: FuzzRequest, route: Route): Expected {
  const { faults, value } = readingOf(request, route);
  const outcomes = faults.map(({ code, at }) => refusal(code, at));
  if (!faults.every(({ isUnclear }) => isUnclear)) return only(...outcomes);
  const left = jobRefusals(request, route).map((code) => refusal(code));
  if (left.length > 0) return { outcomes: [...outcomes, ...left], mayClose: false, route };
  return {
    outcomes: [...outcomes, { status: route.created ? 201 : 200, code: null, at: [] }],
    mayClose: false,
    route,
    value,
  };
}
