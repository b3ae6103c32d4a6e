import { z } from 'zod';
import { count, jobStatus } from './schema/response-fields.js';

/**
 * Every error that a caller can get: code → HTTP status and default sentence. The code is the same word in the Lua
 * scripts, in the throw, in the log and on the wire.
 *
 * @see docs/errors.md
 */
export const ERRORS = {
  INVALID_REQUEST: { status: 400, message: 'Request is not valid' },
  UNAUTHENTICATED: { status: 401, message: 'A valid API key is required' },
  FORBIDDEN: { status: 403, message: 'The API key is bound to another space' },
  JOB_NOT_FOUND: { status: 404, message: 'Job not found' },
  KEY_NOT_FOUND: { status: 404, message: 'Key not found' },
  OPERATION_NOT_FOUND: { status: 404, message: 'Operation not found' },
  NOT_FOUND: { status: 404, message: 'No such path' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Method not allowed' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive' },
  JOB_NOT_PENDING: { status: 409, message: 'Job is not pending' },
  JOB_NOT_DELIVERED: { status: 409, message: 'Job is not in a valid state for ack' },
  JOB_NOT_RUNNING: { status: 409, message: 'Job is not running' },
  DELIVERY_LOST: { status: 409, message: 'Job was handed to another worker' },
  JOB_KILLED: { status: 409, message: 'Job has been killed' },
  JOB_ENDED: { status: 409, message: 'Job has already ended' },
  JOB_NOT_DEAD: { status: 409, message: 'Job is neither dead nor killed' },
  JOB_NOT_ENDED: { status: 409, message: 'Job has not ended' },
  NO_CALLBACK: { status: 409, message: 'Job has no callback' },
  JOB_NOT_UNIQUE: { status: 409, message: 'Another job has this unique key' },
  TOO_LARGE: { status: 413, message: 'Request is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Content type is not supported' },
  IDEMPOTENCY_MISMATCH: { status: 422, message: 'Idempotency-Key was used with another body' },
  UPGRADE_REQUIRED: { status: 426, message: 'This is a stream: connect to it with WebSocket' },
  TOO_MANY_STREAMS: { status: 429, message: 'Too many streams are open' },
  SPACE_FULL: { status: 429, message: 'Space has as many pending jobs as its settings allow; nothing was stored' },
  TOO_MANY_WAITERS: { status: 429, message: 'Too many calls are waiting; send the call again, or without waitSeconds' },
  TOO_MANY_KEYS: { status: 429, message: 'Space has as many API keys as the service allows; revoke some first' },
  TOO_MANY_OPERATIONS: { status: 429, message: 'Too many operations of the space are running' },
  RATE_LIMITED: { status: 429, message: 'The API key has made too many calls; send the call again later' },
  INTERNAL: { status: 500, message: 'Internal error' },
  UNAVAILABLE: { status: 503, message: 'Storage did not respond; the outcome of this request is unknown' },
  OVERLOADED: { status: 503, message: 'Server is busy; nothing was done, send the request again' },
  STORAGE_FULL: { status: 503, message: 'Storage is full; nothing was stored' },
  STORAGE_UNSAFE: { status: 503, message: 'Storage may delete jobs when it is full; nothing was stored' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Message of SPACE_FULL in a space with `maxBytes`. */
export const SPACE_FULL_OF_BYTES = 'Space holds as many bytes as its settings allow';

/** One fault of a request: where it is, and what is required there. */
export const faultDetail = z
  .object({
    path: z.string().describe('Path into the request, e.g. `subProgress.build.percent`'),
    message: z.string().describe('Full sentence that starts with the path'),
  })
  .meta({ id: 'FaultDetail' });
export type FaultDetail = z.output<typeof faultDetail>;

/** Body of every error. */
export const errorResponse = z
  .object({
    error: z.string().describe('Message for people'),
    code: z.enum(Object.keys(ERRORS) as [ErrorCode]).describe('Code for programs'),
    jobStatus: jobStatus.optional().describe('Status the job has now; on every 409'),
    hint: z.string().optional().describe('What happened before, when that is known; on a 409 of an ack'),
    jobId: z.string().optional().describe('Job that has the unique key; only with `JOB_NOT_UNIQUE`'),
    stored: count.optional().describe('Jobs of a list that were created or found before it was refused; absent for 0'),
    details: z
      .array(faultDetail)
      .optional()
      .describe('Only when several fields are wrong, or a field of a job in a list'),
  })
  .meta({ id: 'Error' });

/** Fields that some errors have in addition to `error` and `code`. */
export type ErrorExtras = Omit<z.output<typeof errorResponse>, 'error' | 'code'>;

const NO_HEADERS = {};

/** A refusal that the caller is meant to see. Everything else that is thrown is a bug and reported as INTERNAL. */
export class YardmasterError extends Error {
  override readonly name = 'YardmasterError';
  readonly retryAfterSeconds: number | null;
  /** Headers of the response that say what would be accepted. */
  readonly headers: Record<string, string>;

  /**
   * @param message sentence for the caller; the catalog's when left out
   * @param options.cause the library error behind it, for the log only
   * @param options.headers headers of the response
   * @param options.retryAfterSeconds when the caller should try again, where that is known
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERRORS[code].message,
    readonly extras: ErrorExtras = {},
    options?: ErrorOptions & { retryAfterSeconds?: number; headers?: Record<string, string> },
  ) {
    // Recording the stack takes longer than the rest of a refusal, and it is not needed: the cause has its own stack.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = limit;
    this.retryAfterSeconds = options?.retryAfterSeconds ?? null;
    this.headers = options?.headers ?? NO_HEADERS;
  }

  /** HTTP status of this error. */
  get status(): number {
    return ERRORS[this.code].status;
  }
}
