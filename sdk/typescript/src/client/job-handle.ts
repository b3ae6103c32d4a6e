import { type Duration, secondsOf } from '../durations.js';
import { YardmasterError } from '../errors.js';
import type { JobStatus, JobWithEvents } from '../wire.generated.js';
import { jobPath, type Sender } from './transport.js';

/** The service waits at most this long before it responds. */
const WAIT_SECONDS = 20;

/** Names a job. */
export class JobHandle {
  readonly id: string;
  /** Of the job when it was created; undefined for a handle by id. */
  readonly name: string | undefined;
  /** Of the job when it was created; undefined for a handle by id. */
  readonly status: JobStatus | undefined;
  readonly #client: Sender;

  constructor(client: Sender, { id, name, status }: { id: string; name?: string; status?: JobStatus }) {
    this.#client = client;
    this.id = id;
    this.name = name;
    this.status = status;
  }

  /**
   * Wait until the job is completed. It may take as long as the job waits and is retried.
   *
   * @param options.timeout how long to wait. Default: no limit
   * @returns its result
   * @throws YardmasterError `JOB_DEAD` with the error of the job, `JOB_KILLED`, `TIMEOUT`
   */
  async result<T = unknown>(options: { timeout?: Duration; signal?: AbortSignal } = {}): Promise<T> {
    const { timeout, signal } = options;
    const seconds = timeout === undefined ? Number.POSITIVE_INFINITY : secondsOf(timeout, 'timeout');
    const end = performance.now() + seconds * 1_000;
    for (;;) {
      const left = (end - performance.now()) / 1_000;
      const job = await this.#read(Math.min(Math.max(left, 0), WAIT_SECONDS), signal);
      if (job.status === 'completed') return job.result as T;
      if (job.status === 'dead') {
        const facts = { jobStatus: job.status, jobError: job.error };
        const text = typeof job.error === 'string' ? job.error : JSON.stringify(job.error);
        throw new YardmasterError('JOB_DEAD', `The job is dead: ${text}`, facts);
      }
      if (job.status === 'killed')
        throw new YardmasterError('JOB_KILLED', 'Job has been killed', { jobStatus: job.status });
      if (performance.now() >= end)
        throw new YardmasterError('TIMEOUT', `The job is ${job.status} after ${seconds} s`, { jobStatus: job.status });
    }
  }

  #read(waitSeconds: number, signal?: AbortSignal): Promise<JobWithEvents> {
    const path = jobPath(this.id, waitSeconds > 0 ? `?waitSeconds=${waitSeconds.toFixed(3)}` : '');
    return this.#client.send({ method: 'GET', path, waitMs: waitSeconds * 1_000 }, signal);
  }

  /** Return the job with its history. */
  get(signal?: AbortSignal): Promise<JobWithEvents> {
    return this.#read(0, signal);
  }

  /** End the job. */
  async kill(reason?: string, signal?: AbortSignal): Promise<void> {
    const path = jobPath(this.id, '/kill');
    await this.#client.send({ method: 'POST', path, body: JSON.stringify({ reason }) }, signal);
  }
}
