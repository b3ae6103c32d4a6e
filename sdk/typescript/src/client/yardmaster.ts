import { randomUUID } from 'node:crypto';
import { type Duration, secondsOf } from '../durations.js';
import type { AnyJobs, JobTypes, NameOf, PayloadOf, ResultOf } from '../job-types.js';
import type {
  Job,
  JobStatus,
  JobSummary,
  JobWithEvents,
  KnownJob,
  ListedJob,
  Space,
  SpaceList,
  SpaceStats,
  StreamToken,
  StreamTokenRequest,
} from '../wire.generated.js';
import { eventStream } from './event-stream.js';
import { follow, type StreamMessage, type WatchOptions } from './follow.js';
import { JobHandle } from './job-handle.js';
import { Operations } from './operations.js';
import {
  bodyOf,
  type CallOptions,
  type CreateOptions,
  type GetOptions,
  type NewJob,
  targetOf,
  timestampOf,
  type YardmasterOptions,
} from './options.js';
import { Schedules } from './schedules.js';
import {
  jobPath,
  type Page,
  pagesOf,
  queryOf,
  type Request,
  type Sender,
  sendUntilAnswered,
  spacePath,
  type Target,
} from './transport.js';

/** Filters of a job list, combined with AND. */
export interface ListOptions {
  /** Only jobs with this status, or one of several. */
  status?: JobStatus | readonly JobStatus[];
  /** Only jobs with this name, or one of several. */
  name?: string | readonly string[];
  /** Only jobs with this tag, or with all of several. */
  tag?: string | readonly string[];
  /** Only jobs created by the schedule with this ID. */
  schedule?: string;
  /** Only jobs with this text in the JSON of their payload, result or error. Case-insensitive. */
  q?: string;
  /** Only jobs created at or after this time. */
  createdAfter?: Date | string;
  /** Only jobs created before this time. */
  createdBefore?: Date | string;
  /** Sort by creation time: newest first (`desc`) or oldest first (`asc`). Default: `desc` */
  order?: 'asc' | 'desc';
  /** Number of jobs to fetch per call, at most 100. Default: 50 */
  pageSize?: number;
}

/** Filters of a space's events, combined with AND. */
export interface WatchSpaceOptions extends WatchOptions {
  /** Only events of jobs with this name, or one of several. */
  name?: string | readonly string[];
  /** Only events of this type, or one of several; docs/streams.md lists them. `init` is always sent. */
  type?: string | readonly string[];
  /** Only events of jobs with this tag, or with all of several. */
  tag?: string | readonly string[];
  /** Whether to count the jobs by status, in `init` and in messages of the type `counts`. Default: false */
  counts?: boolean;
}

const RETRY_SECONDS = 60;

/** Arguments of `create` after the name. A payload that may be null is optional. */
type CreateArguments<Payload> = null extends Payload
  ? [payload?: Payload, options?: CreateOptions & CallOptions]
  : [payload: Payload, options?: CreateOptions & CallOptions];

/**
 * A client for one space. It retries calls that get no response or are refused temporarily: see `retryWindow`.
 *
 * Pass the types of your jobs to check names, payloads and results, in workers as well:
 *
 *     interface Jobs { resize: { payload: { image: string }; result: { bytes: number } } }
 *     const client = new Yardmaster<Jobs>();
 */
export class Yardmaster<Jobs extends JobTypes<Jobs> = AnyJobs> implements Sender {
  readonly target: Target;
  /** Bulk operations on the jobs of the space. */
  readonly operations = new Operations(this);
  /** Schedules of the space, which create jobs at recurring times. */
  readonly schedules = new Schedules<Jobs>(this);
  readonly #windowMs: number;

  constructor(options: YardmasterOptions = {}) {
    this.target = targetOf(options);
    this.#windowMs = secondsOf(options.retryWindow ?? RETRY_SECONDS, 'retryWindow') * 1_000;
  }

  /**
   * Create a job. A retry after a lost response makes no second job.
   *
   * @param payload a JSON object
   * @throws YardmasterError; RangeError for an invalid duration
   */
  async create<Name extends NameOf<Jobs>>(
    name: Name,
    ...[payload, options = {}]: CreateArguments<PayloadOf<Jobs, Name>>
  ): Promise<JobHandle<ResultOf<Jobs, Name>>> {
    const { idempotencyKey, signal, ...ofJob } = options;
    const created = await this.#create<KnownJob>(bodyOf({ name, payload, options: ofJob }), { idempotencyKey, signal });
    return new JobHandle(this, created);
  }

  /** Create up to 1,000 jobs in one call, in this order. */
  async createMany(
    jobs: readonly NewJob<Jobs>[],
    options: CallOptions = {},
  ): Promise<JobHandle<ResultOf<Jobs, NameOf<Jobs>>>[]> {
    const created = await this.#create<JobSummary[]>(jobs.map(bodyOf), options);
    return created.map((job) => new JobHandle(this, job));
  }

  #create<T>(
    body: object,
    { idempotencyKey = randomUUID(), signal }: { [K in keyof CallOptions]: CallOptions[K] | undefined },
  ) {
    // Without `prefer`, the service would ignore an option that it doesn't know.
    const headers = { 'idempotency-key': idempotencyKey, prefer: 'handling=strict' };
    const path = spacePath(this.target, '/jobs');
    return this.send<T>({ method: 'POST', path, headers, body: JSON.stringify(body) }, signal);
  }

  /** Return a handle to an existing job, for example to wait for its result: `handle<'resize'>(id)`. */
  handle<Name extends NameOf<Jobs> = NameOf<Jobs>>(jobId: string): JobHandle<ResultOf<Jobs, Name>> {
    return new JobHandle(this, { id: jobId });
  }

  /** Return a job with its history, with a page of it, or without it. */
  get(jobId: string, options: GetOptions & { events: false }): Promise<Job>;
  get(jobId: string, options?: GetOptions): Promise<JobWithEvents>;
  get(jobId: string, options?: GetOptions): Promise<Job> {
    return this.handle(jobId).get(options);
  }

  /**
   * List the jobs of the space, page by page. No job is listed twice, even if jobs are created or changed while you
   * read.
   */
  list(options: ListOptions = {}, signal?: AbortSignal): AsyncGenerator<ListedJob, void, undefined> {
    const { pageSize, createdAfter, createdBefore, ...others } = options;
    const query = queryOf({
      ...others,
      limit: pageSize,
      createdAfter: createdAfter && timestampOf(createdAfter),
      createdBefore: createdBefore && timestampOf(createdBefore),
    });
    const path = spacePath(this.target, '/jobs');
    return pagesOf((cursor) =>
      this.send<Page<ListedJob>>({ method: 'GET', path: `${path}?${query}${cursor}`, isPage: true }, signal),
    );
  }

  /** List the spaces that have jobs, with their counts. */
  spaces(signal?: AbortSignal): AsyncGenerator<Space, void, undefined> {
    return pagesOf(async (cursor) => {
      const path = `/spaces?limit=100${cursor}`;
      const { spaces, nextCursor } = await this.send<SpaceList>({ method: 'GET', path }, signal);
      return { items: spaces, nextCursor };
    });
  }

  /** Count the jobs of the space by status and by name. */
  stats(signal?: AbortSignal): Promise<SpaceStats> {
    return this.send({ method: 'GET', path: spacePath(this.target, '/stats') }, signal);
  }

  /** Kill a job: it is not retried, and a handler that is running it is aborted. */
  kill(jobId: string, reason?: string, signal?: AbortSignal): Promise<void> {
    return this.handle(jobId).kill(reason, signal);
  }

  /**
   * Put a dead or killed job back in the queue with a fresh set of attempts. After a lost response, a retry may throw
   * `JOB_NOT_DEAD` although the job was requeued.
   */
  async requeue(jobId: string, delay: Duration = 0, signal?: AbortSignal): Promise<void> {
    const body = JSON.stringify({ delaySeconds: secondsOf(delay, 'delay') });
    await this.send({ method: 'POST', path: jobPath(jobId, '/requeue'), body }, signal);
  }

  /**
   * Create a job with the name, options and tags of another one. The call isn't retried after a lost response, because
   * a retry would make a second job.
   *
   * @param payload payload of the copy. Default: the payload of the original
   */
  async copy(
    jobId: string,
    payload?: object | null,
    signal?: AbortSignal,
  ): Promise<JobHandle<ResultOf<Jobs, NameOf<Jobs>>>> {
    const request = { method: 'POST', path: jobPath(jobId, '/copy'), isOnce: true } as const;
    return new JobHandle(this, await this.send<Job>({ ...request, body: JSON.stringify({ payload }) }, signal));
  }

  /**
   * Delete a job that has ended. After a lost response, a retry may throw `JOB_NOT_FOUND` although the job was deleted.
   */
  async delete(jobId: string, signal?: AbortSignal): Promise<void> {
    await this.send({ method: 'DELETE', path: jobPath(jobId) }, signal);
  }

  /** Stop claims for these names, or without names for the whole space, until `resume`. */
  pause(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#changePause('/pause', names, signal);
  }

  /** Restart claims for these names, or without names for the whole space. */
  resume(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#changePause('/resume', names, signal);
  }

  async #changePause(path: string, names?: readonly string[], signal?: AbortSignal): Promise<void> {
    if (names?.length === 0) return; // An empty list must not mean the whole space.
    await this.send({ method: 'POST', path: spacePath(this.target, path), body: JSON.stringify({ names }) }, signal);
  }

  /**
   * Create a short-lived token for some streams, for a web page or another client that must not have the API key. Pass
   * exactly one of `jobIds`, `tag` and `spaceId`.
   */
  createStreamToken(request: StreamTokenRequest, signal?: AbortSignal): Promise<StreamToken> {
    return this.send({ method: 'POST', path: '/stream-tokens', body: JSON.stringify(request) }, signal);
  }

  /**
   * Watch the events of the space as they happen, until you leave the loop or abort the signal. After a reconnect, list
   * the jobs again at `init`, because events before it may be missing.
   *
   * @throws YardmasterError if the stream is refused; the reason of the signal
   */
  watch({ signal, onDisconnect, ...filter }: WatchSpaceOptions = {}): AsyncGenerator<StreamMessage, void, undefined> {
    const query = queryOf({ ...filter, counts: filter.counts ? 1 : undefined });
    const path = `/realtime${spacePath(this.target, `?${query}`)}`;
    return follow(eventStream(this.target, path), { isOfJob: false, signal, onDisconnect });
  }

  /** Call the API, and retry until a response says what the call did or the retry window is over. */
  send<T>(request: Request, signal?: AbortSignal): Promise<T> {
    return sendUntilAnswered<T>(this.target, request, this.#windowMs, signal);
  }
}
