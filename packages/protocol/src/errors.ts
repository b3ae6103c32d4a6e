import { z } from 'zod';
import { count, jobStatus } from './schema/response-fields.js';

/**
 * Every error that a caller can get: code → HTTP status and default message. The Lua scripts, the code, the logs and the
 * wire all use the same code.
 *
 * @see docs/errors.md
 */
export const ERRORS = {
  INVALID_REQUEST: { status: 400, message: 'Request is invalid' },
  UNAUTHENTICATED: { status: 401, message: 'A valid API key is required' },
  FORBIDDEN: { status: 403, message: 'The API key is bound to another space' },
  JOB_NOT_FOUND: { status: 404, message: 'Job not found' },
  KEY_NOT_FOUND: { status: 404, message: 'Key not found' },
  OPERATION_NOT_FOUND: { status: 404, message: 'Operation not found' },
  SCHEDULE_NOT_FOUND: { status: 404, message: 'Schedule not found' },
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
  SCHEDULE_OWNED: { status: 409, message: 'Another owner has declared this schedule' },
  SCHEDULE_RUNNING: { status: 409, message: 'The last job of this schedule has not ended' },
  TOO_LARGE: { status: 413, message: 'Request is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Content type is not supported' },
  IDEMPOTENCY_MISMATCH: { status: 422, message: 'Idempotency-Key was already used with a different body' },
  UPGRADE_REQUIRED: {
    status: 426,
    message: 'This is a stream; connect with WebSocket, or send Accept: text/event-stream',
  },
  TOO_MANY_STREAMS: { status: 429, message: 'Too many streams are open' },
  SPACE_FULL: { status: 429, message: 'Space has reached its limit of pending jobs; nothing was stored' },
  TOO_MANY_WAITERS: { status: 429, message: 'Too many calls are waiting; retry later, or without waitSeconds' },
  TOO_MANY_KEYS: { status: 429, message: 'Space has reached its limit of API keys; revoke some first' },
  TOO_MANY_OPERATIONS: { status: 429, message: 'Too many operations are running in this space' },
  TOO_MANY_SCHEDULES: { status: 429, message: 'Space has reached its limit of schedules; nothing was stored' },
  RATE_LIMITED: { status: 429, message: 'The API key has made too many calls; retry later' },
  INTERNAL: { status: 500, message: 'Internal error' },
  UNAVAILABLE: { status: 503, message: 'Storage did not respond; the outcome of this request is unknown' },
  OVERLOADED: { status: 503, message: 'Server is busy; nothing was done, retry the request' },
  STORAGE_FULL: { status: 503, message: 'Storage is full; nothing was stored' },
  STORAGE_UNSAFE: { status: 503, message: 'Storage may delete jobs when it is full; nothing was stored' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Message of SPACE_FULL in a space with `maxBytes`. */
export const SPACE_FULL_OF_BYTES = 'Space holds as many bytes as its settings allow';

/** One fault in a request: where it is, and what is required there. */
export const faultDetail = z
  .object({
    path: z.string().describe('Path of the field in the request, such as `subProgress.build.percent`'),
    message: z.string().describe('What is wrong, as a sentence that starts with the path'),
  })
  .meta({ id: 'FaultDetail' });
export type FaultDetail = z.output<typeof faultDetail>;

/** Body of every error. */
export const errorResponse = z
  .object({
    error: z.string().describe('Human-readable message; may change'),
    code: z.enum(Object.keys(ERRORS) as [ErrorCode]).describe('Stable code to branch on'),
    jobStatus: jobStatus.optional().describe('Current status of the job; on every 409 except `SCHEDULE_OWNED`'),
    hint: z.string().optional().describe('What happened to the job earlier, if known; on a 409 of an ack'),
    jobId: z
      .string()
      .optional()
      .describe(
        'Job that holds the unique key, or the last job of the schedule; with `JOB_NOT_UNIQUE` and `SCHEDULE_RUNNING`',
      ),
    stored: count
      .optional()
      .describe('Number of jobs, from the start of the list, that were created or found before the error; absent if 0'),
    details: z
      .array(faultDetail)
      .optional()
      .describe('All faults, if several fields are invalid or the field belongs to a job in a list'),
  })
  .meta({ id: 'Error' });

/** Fields that some errors have in addition to `error` and `code`. */
export type ErrorExtras = Omit<z.output<typeof errorResponse>, 'error' | 'code'>;

const NO_HEADERS = {};

/** An error that the caller is meant to see. Anything else that is thrown is a bug and reported as INTERNAL. */
export class YardmasterError extends Error {
  override readonly name = 'YardmasterError';
  readonly retryAfterSeconds: number | null;
  /** Response headers that tell what would be accepted. */
  readonly headers: Record<string, string>;

  /**
   * @param message message for the caller; default: that of the catalog
   * @param options.cause the underlying library error, only for the log
   * @param options.headers response headers
   * @param options.retryAfterSeconds when the caller should retry, if known
   */
  constructor(
    readonly code: ErrorCode,
    message: string = ERRORS[code].message,
    readonly extras: ErrorExtras = {},
    options?: ErrorOptions & { retryAfterSeconds?: number; headers?: Record<string, string> },
  ) {
    // Capturing the stack takes longer than the rest of a refusal, and isn't needed: the cause has its own stack.
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
