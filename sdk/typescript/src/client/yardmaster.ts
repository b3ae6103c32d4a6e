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
import {
  jobPath,
  type Page,
  queryOf,
  type Request,
  type Sender,
  sendUntilAnswered,
  spacePath,
  type Target,
} from './transport.js';

/** Which jobs to list: those that pass all of these. */
export interface ListOptions {
  /** One of these. */
  status?: JobStatus | readonly JobStatus[];
  /** One of these. */
  name?: string | readonly string[];
  /** All of these. */
  tag?: string | readonly string[];
  /** Text in the JSON of payload, result or error, in upper or lower case. */
  q?: string;
  /** Created at this time or later. */
  createdAfter?: Date | string;
  /** Created before this time. */
  createdBefore?: Date | string;
  /** By creation: newest first (`desc`, the default) or oldest first. */
  order?: 'asc' | 'desc';
  /** Jobs in one call, at most 100. Default: 50 */
  pageSize?: number;
}

/** Which events of the space to watch: those that pass all of these. */
export interface WatchSpaceOptions extends WatchOptions {
  /** Of jobs with one of these names. */
  name?: string | readonly string[];
  /** One of these types, see docs/streams.md. `init` always comes. */
  type?: string | readonly string[];
  /** Of jobs with all of these tags. */
  tag?: string | readonly string[];
  /** Whether to count the jobs by status: in `init`, and in messages of the type `counts`. Default: false */
  counts?: boolean;
}

const RETRY_SECONDS = 60;

/** What `create` takes after the name. A payload that may be null may be left out. */
type CreateArguments<Payload> = null extends Payload
  ? [payload?: Payload, options?: CreateOptions & CallOptions]
  : [payload: Payload, options?: CreateOptions & CallOptions];

/**
 * A client of one space. Calls that have no response, or are refused for now, are sent again: see `retryWindow`.
 *
 * With the types of your jobs, names, payloads and results are checked, in workers as well:
 *
 *     interface Jobs { resize: { payload: { image: string }; result: { bytes: number } } }
 *     const client = new Yardmaster<Jobs>();
 */
export class Yardmaster<Jobs extends JobTypes<Jobs> = AnyJobs> implements Sender {
  readonly target: Target;
  /** Changes many jobs. */
  readonly operations = new Operations(this);
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
  async create<Name extends NameOf<Jobs>>(
    name: Name,
    ...[payload, options = {}]: CreateArguments<PayloadOf<Jobs, Name>>
  ): Promise<JobHandle<ResultOf<Jobs, Name>>> {
    const { idempotencyKey, signal, ...ofJob } = options;
    const created = await this.#create<KnownJob>(bodyOf({ name, payload, options: ofJob }), { idempotencyKey, signal });
    return new JobHandle(this, created);
  }

  /** Create up to 1,000 jobs with one call, in this order. */
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
    // Without `prefer`, the service would ignore an option that it does not know.
    const headers = { 'idempotency-key': idempotencyKey, prefer: 'handling=strict' };
    const path = spacePath(this.target, '/jobs');
    return this.send<T>({ method: 'POST', path, headers, body: JSON.stringify(body) }, signal);
  }

  /** Return a handle of a job whose id is known, for example to wait for its result: `handle<'resize'>(id)`. */
  handle<Name extends NameOf<Jobs> = NameOf<Jobs>>(jobId: string): JobHandle<ResultOf<Jobs, Name>> {
    return new JobHandle(this, { id: jobId });
  }

  /** Return a job with its history, a page of it, or without it. */
  get(jobId: string, options: GetOptions & { events: false }): Promise<Job>;
  get(jobId: string, options?: GetOptions): Promise<JobWithEvents>;
  get(jobId: string, options?: GetOptions): Promise<Job> {
    return this.handle(jobId).get(options);
  }

  /** List jobs of the space, page after page: no job comes twice, whatever is created or changed in the meantime. */
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

  /** End a job: it is not attempted any more, and a handler that works on it is aborted. */
  kill(jobId: string, reason?: string, signal?: AbortSignal): Promise<void> {
    return this.handle(jobId).kill(reason, signal);
  }

  /**
   * Put a dead or killed job back in the queue, with all of its attempts. After a lost response it may have the error
   * `JOB_NOT_DEAD` although the job waits.
   */
  async requeue(jobId: string, delay: Duration = 0, signal?: AbortSignal): Promise<void> {
    const body = JSON.stringify({ delaySeconds: secondsOf(delay, 'delay') });
    await this.send({ method: 'POST', path: jobPath(jobId, '/requeue'), body }, signal);
  }

  /**
   * Create a job with the name, options and tags of another one. It is not sent again after a lost response, because
   * that would make a second job.
   *
   * @param payload default: that of the other job
   */
  async copy(
    jobId: string,
    payload?: object | null,
    signal?: AbortSignal,
  ): Promise<JobHandle<ResultOf<Jobs, NameOf<Jobs>>>> {
    const request = { method: 'POST', path: jobPath(jobId, '/copy'), isOnce: true } as const;
    return new JobHandle(this, await this.send<Job>({ ...request, body: JSON.stringify({ payload }) }, signal));
  }

  /** Remove a job that has ended. After a lost response it may have the error `JOB_NOT_FOUND` although it is removed. */
  async delete(jobId: string, signal?: AbortSignal): Promise<void> {
    await this.send({ method: 'DELETE', path: jobPath(jobId) }, signal);
  }

  /** Pause the jobs of these names, or without names the whole space: they are not claimed until `resume`. */
  pause(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#changePause('/pause', names, signal);
  }

  /** End the pause of these names, or without names every pause of the space. */
  resume(names?: readonly string[], signal?: AbortSignal): Promise<void> {
    return this.#changePause('/resume', names, signal);
  }

  async #changePause(path: string, names?: readonly string[], signal?: AbortSignal): Promise<void> {
    if (names?.length === 0) return; // An empty list must not mean the whole space.
    await this.send({ method: 'POST', path: spacePath(this.target, path), body: JSON.stringify({ names }) }, signal);
  }

  /**
   * Create a token that opens some streams for a short time, for a page or another client that must not have the API key.
   * Exactly one of `jobIds`, `tag` and `spaceId` is required.
   */
  createStreamToken(request: StreamTokenRequest, signal?: AbortSignal): Promise<StreamToken> {
    return this.send({ method: 'POST', path: '/stream-tokens', body: JSON.stringify(request) }, signal);
  }

  /**
   * Watch the events of the space as they happen, until the loop is left or the signal is aborted. Reconnect after a
   * disconnection: events until the next `init` are missing, so list the jobs again.
   *
   * @throws YardmasterError when the stream is refused; the reason of the signal
   */
  watch({ signal, onDisconnect, ...filter }: WatchSpaceOptions = {}): AsyncGenerator<StreamMessage, void, undefined> {
    const query = queryOf({ ...filter, counts: filter.counts ? 1 : undefined });
    const path = `/realtime${spacePath(this.target, `?${query}`)}`;
    return follow(eventStream(this.target, path), { isOfJob: false, signal, onDisconnect });
  }

  /** Make a call of the API, and send it again until a response says what it did, or the retry window is over. */
  send<T>(request: Request, signal?: AbortSignal): Promise<T> {
    return sendUntilAnswered<T>(this.target, request, this.#windowMs, signal);
  }
}

/** @param read gets a page by the end of its query */
async function* pagesOf<Item>(read: (cursor: string) => Promise<Page<Item>>): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { items, nextCursor }: Page<Item> = await read(cursor);
    yield* items;
    cursor = nextCursor && `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}
