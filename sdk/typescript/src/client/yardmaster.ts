import { randomUUID } from 'node:crypto';
import { secondsOf } from '../durations.js';
import type { JobStatus, JobSummary, JobWithEvents, KnownJob, ListedJob } from '../wire.generated.js';
import { JobHandle } from './job-handle.js';
import {
  bodyOf,
  type CallOptions,
  type CreateOptions,
  type NewJob,
  targetOf,
  type YardmasterOptions,
} from './options.js';
import { jobPath, type Request, sendUntilAnswered, spacePath, type Target } from './transport.js';

/** Which jobs to list. */
export interface ListOptions {
  status?: JobStatus;
  name?: string;
  /** At most 100. Default: 50 */
  limit?: number;
  /** Counts from the newest job. Default: 0 */
  offset?: number;
}

const RETRY_SECONDS = 60;

/** A client of one space. Calls that have no response, or are refused for now, are sent again: see `retryWindow`. */
export class Yardmaster {
  readonly target: Target;
  readonly #windowMs: number;

  constructor(options: YardmasterOptions = {}) {
    this.target = targetOf(options);
    this.#windowMs = secondsOf(options.retryWindow ?? RETRY_SECONDS, 'retryWindow') * 1_000;
  }

  /**
   * Create a job. Sent again after a lost response, it makes one job nevertheless.
   *
   * @param payload a JSON object
   * @throws YardmasterError; RangeError for an invalid duration
   */
  async create(
    name: string,
    payload: object | null = null,
    options: CreateOptions & CallOptions = {},
  ): Promise<JobHandle> {
    const { idempotencyKey, signal, ...ofJob } = options;
    const created = await this.#create<KnownJob>(bodyOf({ name, payload, options: ofJob }), { idempotencyKey, signal });
    return new JobHandle(this, created);
  }

  /** Create up to 1 000 jobs with one call, in this order. */
  async createMany(jobs: readonly NewJob[], options: CallOptions = {}): Promise<JobHandle[]> {
    const created = await this.#create<JobSummary[]>(jobs.map(bodyOf), options);
    return created.map((job) => new JobHandle(this, job));
  }

  #create<T>(
    body: object,
    { idempotencyKey = randomUUID(), signal }: { [K in keyof CallOptions]: CallOptions[K] | undefined },
  ) {
    const headers = { 'idempotency-key': idempotencyKey };
    const path = spacePath(this.target, '/jobs');
    return this.send<T>({ method: 'POST', path, headers, body: JSON.stringify(body) }, signal);
  }

  /** Return a handle of a job whose id is known, for example to wait for its result. */
  handle(jobId: string): JobHandle {
    return new JobHandle(this, { id: jobId });
  }

  /** Return a job with its history. */
  get(jobId: string, signal?: AbortSignal): Promise<JobWithEvents> {
    return this.send({ method: 'GET', path: jobPath(jobId) }, signal);
  }

  /** List jobs of the space, the newest first. */
  list(options: ListOptions = {}, signal?: AbortSignal): Promise<ListedJob[]> {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return this.send({ method: 'GET', path: spacePath(this.target, `/jobs?${query}`) }, signal);
  }

  /** End a job: it is not attempted any more, and a handler that works on it is aborted. */
  async kill(jobId: string, reason?: string, signal?: AbortSignal): Promise<void> {
    await this.send({ method: 'POST', path: jobPath(jobId, '/kill'), body: JSON.stringify({ reason }) }, signal);
  }

  /** Make a call of the API, and send it again until a response says what it did, or the retry window is over. */
  send<T>(request: Request, signal?: AbortSignal): Promise<T> {
    return sendUntilAnswered<T>(this.target, request, this.#windowMs, signal);
  }
}
