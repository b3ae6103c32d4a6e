import { type Duration, secondsOf } from './durations.js';
import type { ErrorCode, FaultDetail, JobStatus, Settled } from './wire.generated.js';

/** Longest retry delay that the service accepts, in seconds. */
const MOST_RETRY_DELAY = 604_800;

/**
 * Error codes of the SDK itself. `NO_RESPONSE`: the service didn't respond, or something else did, such as a proxy.
 * `TIMEOUT`: the caller's time limit has passed. `JOB_DEAD`: the last attempt of the job failed.
 */
export type SdkErrorCode = 'NO_RESPONSE' | 'TIMEOUT' | 'JOB_DEAD';

/** System error codes of calls that never reached a server. */
const NOT_SENT = new Set<string | undefined>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

interface Facts {
  status?: number | null | undefined;
  jobStatus?: JobStatus | undefined;
  jobId?: string | undefined;
  requestId?: string | null | undefined;
  details?: readonly FaultDetail[] | undefined;
  jobError?: unknown;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A call that was refused or got no response. The message comes from the service. */
export class YardmasterError extends Error {
  override readonly name = 'YardmasterError';
  /** Error code, which stays the same when the message changes. */
  readonly code: ErrorCode | SdkErrorCode;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Current status of the job; only for a 409, and for errors of `result`. */
  readonly jobStatus: JobStatus | undefined;
  /** Job that holds the unique key, or the last job of the schedule; for `JOB_NOT_UNIQUE` and `SCHEDULE_RUNNING`. */
  readonly jobId: string | undefined;
  /** ID of the request in the logs of the service; null without a response. */
  readonly requestId: string | null;
  /** One entry per invalid field, if a 400 has several. */
  readonly details: readonly FaultDetail[];
  /** Error of the job; only for `JOB_DEAD`. */
  readonly jobError: unknown;
  /** Milliseconds to wait before a retry, from `Retry-After`; 0 without one. */
  readonly retryAfterMs: number;

  constructor(code: ErrorCode | SdkErrorCode, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.status = facts.status ?? null;
    this.jobStatus = facts.jobStatus;
    this.jobId = facts.jobId;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? [];
    this.jobError = facts.jobError;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
  }

  /** Whether a retry may succeed. */
  get isTemporary(): boolean {
    const { status, code } = this;
    // A proxy that has lost its service may answer with any status, such as a 404 page. A 413 is its own limit.
    if (code === 'NO_RESPONSE') return status !== 413 && !this.isOfKey;
    return status !== null && (status >= 500 || status === 429 || status === 408);
  }

  /** Whether the call certainly had no effect, so that a retry is safe. */
  get isWithoutEffect(): boolean {
    const { status, code, cause } = this;
    const isSent = !NOT_SENT.has((cause as { code?: string } | undefined)?.code);
    return status === 429 || code === 'OVERLOADED' || code === 'STORAGE_FULL' || !isSent;
  }

  /** Whether the API key is invalid or lacks a scope, so that someone has to act. */
  get isOfKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** The reason for which a handler's signal is aborted. Except for `Draining`, what the handler does next is ignored. */
export class Aborted extends Error {}

/** The job was killed. */
export class Killed extends Aborted {
  override readonly name = 'Killed';
  constructor(message = 'The job was killed') {
    super(message);
  }
}

/** Another worker has taken over the job. */
export class DeliveryLost extends Aborted {
  override readonly name = 'DeliveryLost';
  constructor(message = 'Another worker has the job') {
    super(message);
  }
}

/** The attempt timed out: no heartbeat arrived in time, or it ran for too long. */
export class TimedOut extends Aborted {
  override readonly name = 'TimedOut';
  constructor(message = 'The attempt timed out') {
    super(message);
  }
}

/**
 * The worker is shutting down. A result is still reported; otherwise the job is released, and no attempt is used up.
 */
export class Draining extends Aborted {
  override readonly name = 'Draining';
  constructor(message = 'The worker is shutting down') {
    super(message);
  }
}

/** Throw this in a handler to make the job dead, even if retries are left. */
export class NonRetryable extends Error {
  override readonly name = 'NonRetryable';
}

/** Throw this in a handler to fail the attempt and set the delay before the next one. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly seconds: number;

  constructor(delay: Duration, message = 'Try again later') {
    super(message);
    this.seconds = secondsOf(delay, 'the delay of RetryAfter', MOST_RETRY_DELAY);
  }
}

/** Return the reason to abort a handler after this refusal; null if it may continue. */
export function abortReasonOf({ code, jobStatus }: Pick<YardmasterError, 'code' | 'jobStatus'>): Aborted | null {
  if (code === 'JOB_KILLED') return new Killed();
  if (code === 'DELIVERY_LOST' || code === 'JOB_NOT_FOUND') return new DeliveryLost();
  if (code !== 'JOB_NOT_RUNNING' && code !== 'JOB_NOT_DELIVERED') return null;
  return jobStatus === 'killed' ? new Killed() : new TimedOut();
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  ...{ OVERLOADED: 503, UNAVAILABLE: 503, STORAGE_FULL: 503, STORAGE_UNSAFE: 503, INTERNAL: 500 },
  ...{ FORBIDDEN: 403, JOB_NOT_FOUND: 404 },
};

/** Return the refusal in one entry of a settle response. */
export function refusalIn({ code = 'INTERNAL', error = '', jobStatus }: Settled): YardmasterError {
  return new YardmasterError(code, error, { status: STATUS[code] ?? 409, jobStatus });
}
