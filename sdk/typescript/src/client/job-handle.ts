import { type Duration, secondsOf } from '../durations.js';
import { errorLine } from '../error-text.js';
import { YardmasterError } from '../errors.js';
import type { Job, JobStatus, JobWithEvents } from '../wire.generated.js';
import { eventStream } from './event-stream.js';
import { follow, type StreamMessage, type WatchOptions } from './follow.js';
import type { GetOptions } from './options.js';
import { jobPath, type Sender } from './transport.js';

/** Longest wait of one call: the limit of the service. */
const WAIT_SECONDS = 20;

/** A handle to a job. */
export class JobHandle<Result = unknown> {
  readonly id: string;
  /** Name of the job; undefined for a handle made from an ID. */
  readonly name: string | undefined;
  /** Status of the job when it was created; undefined for a handle made from an ID. */
  readonly status: JobStatus | undefined;
  readonly #client: Sender;

  constructor(client: Sender, { id, name, status }: { id: string; name?: string; status?: JobStatus }) {
    this.#client = client;
    this.id = id;
    this.name = name;
    this.status = status;
  }

  /**
   * Wait until the job is completed, including its time in the queue and its retries.
   *
   * @param options.timeout how long to wait. Default: no limit
   * @returns the result
   * @throws YardmasterError `JOB_DEAD` with the error of the job, `JOB_KILLED`, `TIMEOUT`
   */
  async result(options: { timeout?: Duration; signal?: AbortSignal } = {}): Promise<Result> {
    const { timeout, signal } = options;
    const seconds = timeout === undefined ? Number.POSITIVE_INFINITY : secondsOf(timeout, 'timeout');
    const end = performance.now() + seconds * 1_000;
    for (;;) {
      const left = (end - performance.now()) / 1_000;
      const waitSeconds = Math.min(Math.max(left, 0), WAIT_SECONDS);
      const wait = waitSeconds > 0 ? `&waitSeconds=${waitSeconds.toFixed(3)}` : '';
      const path = jobPath(this.id, `?events=0${wait}`);
      const job = await this.#client.send<Job>({ method: 'GET', path, waitMs: waitSeconds * 1_000 }, signal);
      if (job.status === 'completed') return job.result as Result;
      if (job.status === 'dead') {
        const facts = { jobStatus: job.status, jobError: job.error };
        throw new YardmasterError('JOB_DEAD', `The job is dead: ${errorLine(job.error)}`, facts);
      }
      if (job.status === 'killed')
        throw new YardmasterError('JOB_KILLED', 'Job has been killed', { jobStatus: job.status });
      if (performance.now() >= end)
        throw new YardmasterError('TIMEOUT', `The job is ${job.status} after ${seconds} s`, { jobStatus: job.status });
    }
  }

  /** Return the job with its history, with a page of it, or without it. */
  get(options: GetOptions & { events: false }): Promise<Job>;
  get(options?: GetOptions): Promise<JobWithEvents>;
  get({ events, signal }: GetOptions = {}): Promise<Job> {
    const { after, limit } = events || {};
    const query = new URLSearchParams({
      ...(events === false && { events: '0' }),
      ...(after !== undefined && { eventsAfter: String(after) }),
      ...(limit !== undefined && { eventsLimit: String(limit) }),
    });
    const path = jobPath(this.id, query.size > 0 ? `?${query}` : '');
    return this.#client.send({ method: 'GET', path }, signal);
  }

  /**
   * Watch the events of the job as they happen, until the job ends. After a disconnection the watch resumes, so each
   * event arrives once. The first message of each connection is `init`, with the status of the job. If the job has ended
   * and has no event after `since`, there is no message.
   *
   * @param options.since number of the event to start after; 0 for the whole history. Default: start from now
   * @throws YardmasterError if the stream is refused; the reason of the signal
   */
  watch(options: WatchOptions & { since?: number } = {}): AsyncGenerator<StreamMessage, void, undefined> {
    const path = `/realtime/${encodeURIComponent(this.id)}`;
    return follow(eventStream(this.#client.target, path), { isOfJob: true, ...options });
  }

  /** Kill the job: it is not retried, and a handler that is running it is aborted. */
  async kill(reason?: string, signal?: AbortSignal): Promise<void> {
    const path = jobPath(this.id, '/kill');
    await this.#client.send({ method: 'POST', path, body: JSON.stringify({ reason }) }, signal);
  }
}
