import { type Duration, secondsOf } from './durations.js';
import type { ErrorCode, FaultDetail, JobStatus, Settled } from './wire.generated.js';

/** Longest delay before an attempt that the service takes, in seconds. */
const MOST_RETRY_DELAY = 604_800;

/**
 * Codes of errors that the SDK makes itself. `NO_RESPONSE`: none came from the service, or one of something else.
 * `TIMEOUT`: the time limit of the caller is over. `JOB_DEAD`: the last attempt of the job has failed.
 */
export type SdkErrorCode = 'NO_RESPONSE' | 'TIMEOUT' | 'JOB_DEAD';

/** Codes of the system for calls that never reached a server. */
const NOT_SENT = new Set<string | undefined>(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

interface Facts {
  status?: number | null | undefined;
  jobStatus?: JobStatus | undefined;
  requestId?: string | null | undefined;
  details?: readonly FaultDetail[] | undefined;
  jobError?: unknown;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A call that was refused, or had no response. Its message is that of the service. */
export class YardmasterError extends Error {
  override readonly name = 'YardmasterError';
  /** Code for programs. */
  readonly code: ErrorCode | SdkErrorCode;
  /** Status of the HTTP response; null without one. */
  readonly status: number | null;
  /** Status of the job now; only of a 409, and of `JOB_DEAD` and `JOB_KILLED` of a result. */
  readonly jobStatus: JobStatus | undefined;
  /** Finds the call in the log of the service; null without a response. */
  readonly requestId: string | null;
  /** One entry for each invalid field of a 400 that has several. */
  readonly details: readonly FaultDetail[];
  /** Error of the job; only of `JOB_DEAD`. */
  readonly jobError: unknown;
  /** Milliseconds that the service asks to wait before the next try; 0 for none. */
  readonly retryAfterMs: number;

  constructor(code: ErrorCode | SdkErrorCode, message: string, facts: Facts = {}) {
    super(message, { cause: facts.cause });
    this.code = code;
    this.status = facts.status ?? null;
    this.jobStatus = facts.jobStatus;
    this.requestId = facts.requestId ?? null;
    this.details = facts.details ?? [];
    this.jobError = facts.jobError;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
  }

  /** Whether the call may succeed when it is sent again. */
  get isTemporary(): boolean {
    const { status, code } = this;
    // A proxy without a service behind it may answer with any status, such as a page with 404. But 413 is its limit.
    if (code === 'NO_RESPONSE') return status !== 413 && !this.isOfKey;
    return status !== null && (status >= 500 || status === 429 || status === 408);
  }

  /** Whether the call certainly had no effect, so that it is safe to send it again. */
  get isWithoutEffect(): boolean {
    const { status, code, cause } = this;
    const isSent = !NOT_SENT.has((cause as { code?: string } | undefined)?.code);
    return status === 429 || code === 'OVERLOADED' || code === 'STORAGE_FULL' || !isSent;
  }

  /** Whether the API key is wrong, so that an operator must act. */
  get isOfKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** Why the signal of a handler is aborted. What the handler does afterwards is ignored, except with `Draining`. */
export class Aborted extends Error {}

/** The job was killed. */
export class Killed extends Aborted {
  override readonly name = 'Killed';
  constructor(message = 'The job was killed') {
    super(message);
  }
}

/** Another worker has or had the job. */
export class DeliveryLost extends Aborted {
  override readonly name = 'DeliveryLost';
  constructor(message = 'Another worker has the job') {
    super(message);
  }
}

/** The attempt is over: it had no heartbeat in time, or ran for too long. */
export class TimedOut extends Aborted {
  override readonly name = 'TimedOut';
  constructor(message = 'The attempt timed out') {
    super(message);
  }
}

/** The worker stops. A result is still reported; otherwise the job is released, which costs no attempt. */
export class Draining extends Aborted {
  override readonly name = 'Draining';
  constructor(message = 'The worker stops') {
    super(message);
  }
}

/** Thrown by a handler: the job is dead, whatever retries are left. */
export class NonRetryable extends Error {
  override readonly name = 'NonRetryable';
}

/** Thrown by a handler: the attempt has failed, and the next one must not begin before this delay. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter';
  readonly seconds: number;

  constructor(delay: Duration, message = 'Try again later') {
    super(message);
    this.seconds = secondsOf(delay, 'the delay of RetryAfter', MOST_RETRY_DELAY);
  }
}

/** Return why a handler must stop after this refusal; null if it need not. */
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

/** Return the refusal in an entry of settle. */
export function refusalIn({ code = 'INTERNAL', error = '', jobStatus }: Settled): YardmasterError {
  return new YardmasterError(code, error, { status: STATUS[code] ?? 409, jobStatus });
}
