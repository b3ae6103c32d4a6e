import {
  ERRORS,
  type ErrorCode,
  type ErrorExtras,
  refusalOf,
  STATUSES,
  TRANSITIONS,
  type Trigger,
} from '@yardmaster/protocol';
import { JOB_ID } from '../routes/examples.js';
import { ANY_KEY, type Route } from '../routes/route.js';
import { JSON_TYPE, namedExamples, refTo } from './schemas.js';

/** The `components.headers`. */
export const HEADERS = {
  RequestId: {
    description: 'The `x-request-id` of the request if it has 1 to 128 printable characters; otherwise a new ID',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  RetryAfter: {
    description: 'Number of seconds to wait before retrying',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimit: {
    description:
      '`"key";r=<calls left>;t=<seconds until the limit resets>`, for keys with limits. Absent for other keys, and if the request fails before its key is checked',
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: '`"key";q=<burst>;w=<seconds until a used-up burst is refilled>`; present whenever `ratelimit` is',
    schema: { type: 'string' },
  },
  IgnoredFields: {
    description:
      'Paths of up to 20 unknown body fields, percent-encoded and separated by `, `; absent if there are none',
    schema: { type: 'string' },
  },
  NextCursor: { description: 'The `cursor` of the next page; absent on the last one', schema: { type: 'string' } },
  Link: {
    description:
      'URL of the next page, relative to this one: `<?cursor=…>; rel="next"`; absent if it would be very long',
    schema: { type: 'string' },
  },
  Help: {
    description: 'Documentation of the error code: `<https://…#code>; rel="help"`',
    required: true,
    schema: { type: 'string' },
  },
  PreferenceApplied: {
    description: '`handling=strict` if the request has `Prefer: handling=strict`; otherwise absent',
    schema: { type: 'string' },
  },
  IdempotentReplayed: {
    description:
      'Present if an earlier call with this `Idempotency-Key` created the job, all jobs of the list, or the operation',
    schema: { type: 'string', enum: ['true'] },
  },
  Allow: { description: 'Methods that the path supports', required: true, schema: { type: 'string' } },
};

/** Headers that every response may have. */
export const COMMON_HEADERS = {
  'x-request-id': refTo('headers', 'RequestId'),
  ratelimit: refTo('headers', 'RateLimit'),
  'ratelimit-policy': refTo('headers', 'RateLimitPolicy'),
};

/** Headers of a successful response of an operation that reads a body. */
export const STRICTNESS_HEADERS = {
  'x-ignored-fields': refTo('headers', 'IgnoredFields'),
  'preference-applied': refTo('headers', 'PreferenceApplied'),
};

/** Headers of a page; see next-page.ts. */
export const PAGE_HEADERS = { 'x-next-cursor': refTo('headers', 'NextCursor'), link: refTo('headers', 'Link') };

/** Header of a response to a request that may be a repeat. */
export const REPLAYED_HEADER = { 'idempotent-replayed': refTo('headers', 'IdempotentReplayed') };

/** Codes that any operation may return. */
const ANYWHERE: readonly ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
  'OVERLOADED',
];

/** Return the codes with which an endpoint may refuse a call, in the order of the catalog. */
export function refusalsOf(route: Route): ErrorCode[] {
  const { trigger, refusals = [] } = route;
  const codes = new Set<ErrorCode>([...ANYWHERE, ...refusals]);
  if (route.scopes === ANY_KEY) codes.delete('FORBIDDEN');
  if (route.header === 'idempotency-key') codes.add('IDEMPOTENCY_MISMATCH');
  if (route.path.includes(':jobId')) codes.add('JOB_NOT_FOUND');
  if (route.path.includes(':keyId')) codes.add('KEY_NOT_FOUND');
  if (route.path.includes(':operationId')) codes.add('OPERATION_NOT_FOUND');
  if (route.path.includes(':scheduleId') && route.method !== 'PUT') codes.add('SCHEDULE_NOT_FOUND');
  if (route.input?.body) codes.add('TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  if (trigger !== undefined) for (const code of refusedTransitions(trigger)) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Return the codes with which a trigger is refused in statuses that have no row for it. */
function refusedTransitions(trigger: Trigger): ErrorCode[] {
  const allowed = TRANSITIONS.filter((row) => row.trigger === trigger).flatMap(({ from }) => from);
  return STATUSES.filter((status) => !allowed.includes(status))
    .map((status) => refusalOf(trigger, status))
    .filter((code) => code !== null);
}

/** Response to headers that Node refuses before a row is known. */
const HEADERS_TOO_LARGE = 'HeadersTooLarge';

/** Fields of error examples that differ from the catalog. */
const EXAMPLES: Partial<Record<ErrorCode, { error?: string } & ErrorExtras>> = {
  INVALID_REQUEST: {
    error: 'name is required',
    details: [
      { path: 'name', message: 'name is required' },
      { path: 'maxRetries', message: 'maxRetries must be an integer between 0 and 100' },
    ],
  },
  FORBIDDEN: { error: 'Missing required scope: jobs:read' },
  METHOD_NOT_ALLOWED: { error: 'Allowed here: OPTIONS, GET, HEAD' },
  JOB_NOT_PENDING: { jobStatus: 'running' },
  JOB_NOT_DELIVERED: { jobStatus: 'running' },
  JOB_NOT_RUNNING: { jobStatus: 'completed' },
  DELIVERY_LOST: { jobStatus: 'running' },
  JOB_KILLED: { jobStatus: 'killed' },
  JOB_ENDED: { jobStatus: 'completed' },
  JOB_NOT_DEAD: { jobStatus: 'completed' },
  JOB_NOT_ENDED: { jobStatus: 'running' },
  NO_CALLBACK: { jobStatus: 'completed' },
  JOB_NOT_UNIQUE: { jobId: JOB_ID, jobStatus: 'running' },
  SCHEDULE_OWNED: { error: 'billing has declared schedule nightly-report' },
  SCHEDULE_RUNNING: { jobId: JOB_ID, jobStatus: 'running' },
  TOO_LARGE: { error: 'body must be at most 1048576 bytes' },
  UNSUPPORTED_MEDIA_TYPE: { error: 'Content-Type must be application/json' },
  INTERNAL: { error: 'Internal error (request 0b0e3c6e-5a0e-4f55-9d1c-6f8f1f2c7a11)' },
};

const exampleOf = (code: ErrorCode) => ({ error: ERRORS[code].message, code, ...EXAMPLES[code] });

const nameOf = (codes: readonly ErrorCode[]) =>
  codes.map((code) => code.replace(/_?([A-Z])([A-Z]*)/g, (_, first, rest) => first + rest.toLowerCase())).join('Or');

/** Group codes that share a status. */
function byStatus(codes: readonly ErrorCode[]): ErrorCode[][] {
  const statuses = new Set(codes.map((code) => ERRORS[code].status));
  return [...statuses].map((status) => codes.filter((code) => ERRORS[code].status === status));
}

const statusOf = (codes: readonly ErrorCode[]) => ERRORS[codes[0] as ErrorCode].status;

/** Return the `responses` of an operation for the codes with which it may respond: one for each status. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, unknown> {
  const responses = byStatus(codes).map((ofStatus) => [statusOf(ofStatus), refTo('responses', nameOf(ofStatus))]);
  return Object.fromEntries([...responses, [431, refTo('responses', HEADERS_TOO_LARGE)]]);
}

/** Return the `components.responses` that the operations refer to. */
export function namedErrorResponses(operations: readonly (readonly ErrorCode[])[]): Record<string, unknown> {
  const named = new Map<string, unknown>();
  for (const codes of operations) {
    for (const ofStatus of byStatus(codes)) named.set(nameOf(ofStatus), errorResponse(ofStatus));
  }
  const tooLarge = { error: 'headers must be at most 16 KB', code: 'INVALID_REQUEST' };
  named.set(HEADERS_TOO_LARGE, {
    ...errorResponse(['INVALID_REQUEST'], { [tooLarge.error]: tooLarge }),
    description: 'The request headers are larger than 16 KB',
  });
  return Object.fromEntries([...named].sort(([a], [b]) => a.localeCompare(b)));
}

function errorResponse(codes: readonly ErrorCode[], examples?: Record<string, unknown>) {
  const status = statusOf(codes);
  const shown = examples ?? Object.fromEntries(codes.map((code) => [ERRORS[code].message, exampleOf(code)]));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join('. '),
    headers: { ...COMMON_HEADERS, link: refTo('headers', 'Help'), ...headersOfStatus(status) },
    content: { [JSON_TYPE]: { schema: refTo('schemas', 'Error'), examples: namedExamples(shown) } },
  };
}

function headersOfStatus(status: number): Record<string, unknown> {
  if (status === 405) return { allow: refTo('headers', 'Allow') };
  return status === 503 || status === 429 ? { 'retry-after': refTo('headers', 'RetryAfter') } : {};
}
