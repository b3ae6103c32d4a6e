import { hostname } from 'node:os';
import { viaHttp } from '../client/http.js';
import { Target } from '../client/transport.js';
import type { Yardmaster } from '../client/yardmaster.js';
import { type Duration, secondsOf } from '../durations.js';
import type { AnyJobs, CheckpointOf, JobTypes, NameOf, PayloadOf, ResultOf } from '../job-types.js';
import type { Context, Released, WorkerJob } from './context.js';
import { Health } from './health.js';
import type { OnLog } from './pino.js';
import { Poller } from './poller.js';
import { type StandardSchema, validated } from './schema.js';
import { type AnyHandler, Session } from './session.js';
import { guarded, type OnWarning, writeWarning } from './warnings.js';

export interface WorkerOptions {
  /** Jobs at once. Default: 10 */
  concurrency?: number;
  /** How long handlers may continue after the worker was asked to stop. Default: 25 s */
  drain?: Duration;
  /**
   * Start jobs with the poll that claims them. It saves a call for each job; but a job whose response is lost waits for
   * its timeout, and has used an attempt. Default: false
   */
  autoAck?: boolean;
  /** Shown on the jobs of the worker, at most 128 characters. Default: host and process id */
  workerId?: string;
  /** Port that serves `/healthz`. Default: none */
  healthPort?: number;
  /** Called when something needs attention but does not end the worker. Default: stderr gets it */
  onWarning?: OnWarning;
  /** Called with what handlers log, besides the log of the job: `toPino(logger)`, for example. Default: none */
  onLog?: OnLog;
  /** Whether SIGTERM and SIGINT stop the worker. Default: true; without it, call `stop` */
  handleSignals?: boolean;
}

/**
 * Works on a job. What it returns is the result; what it throws fails the attempt, see `NonRetryable` and `RetryAfter`.
 * `context.release(…)` as its value gives the job back.
 */
export type Handler<Payload, Result, Checkpoint = unknown> = (
  job: WorkerJob<Payload>,
  context: Context<Checkpoint>,
) => Result | Released | Promise<Result | Released>;

const CONCURRENCY = 10;
const DRAIN = '25s';
/** Seconds. A timer takes 31 bits of milliseconds. */
const MOST_DRAIN = 2_000_000;
/** Most names of a poll and characters of a worker's id that the service accepts. */
const MOST_NAMES = 100;
const MOST_WORKER_ID = 128;

/** Claims jobs and calls their handlers. The types of the jobs are those of its client. */
export class Worker<Jobs extends JobTypes<Jobs> = AnyJobs> {
  readonly #client: Yardmaster<Jobs>;
  readonly #options: WorkerOptions;
  readonly #handlers = new Map<string, AnyHandler>();
  #any: AnyHandler | null = null;
  #session: Session | null = null;

  /** @throws RangeError for an invalid option */
  constructor(client: Yardmaster<Jobs>, options: WorkerOptions = {}) {
    const { concurrency = CONCURRENCY, drain = DRAIN } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw new RangeError(`concurrency must be a whole number above 0; it is ${concurrency}`);
    secondsOf(drain, 'drain', MOST_DRAIN);
    this.#client = client;
    this.#options = options;
  }

  /** Register the handler of a name. */
  on<Name extends NameOf<Jobs>>(
    name: Name,
    handler: Handler<PayloadOf<Jobs, Name>, ResultOf<Jobs, Name>, CheckpointOf<Jobs, Name>>,
  ): this;
  /** The same with a Standard Schema. A payload that does not fit fails its job for good, and the error names the field. */
  on<Name extends NameOf<Jobs>, Payload>(
    name: Name,
    schema: StandardSchema<unknown, Payload>,
    handler: Handler<Payload, ResultOf<Jobs, Name>, CheckpointOf<Jobs, Name>>,
  ): this;
  on(name: string, second: unknown, third?: unknown): this {
    const handler = (third ?? second) as AnyHandler;
    if (name === '' || typeof handler !== 'function') throw new TypeError('on needs a name and a handler');
    if (this.#handlers.has(name)) throw new TypeError(`${name} has a handler already`);
    if (this.#handlers.size === MOST_NAMES)
      throw new RangeError(`A worker has handlers for at most ${MOST_NAMES} names`);
    const validating: AnyHandler = async (job, context) =>
      handler({ ...job, payload: await validated(second as StandardSchema, job.payload) }, context);
    this.#handlers.set(name, third === undefined ? handler : validating);
    return this;
  }

  /** Register the handler of all jobs without one, so that the worker claims jobs of any name. */
  // biome-ignore lint/suspicious/noExplicitAny: jobs of any name come
  onAny(handler: Handler<any, unknown, any>): this {
    this.#any = handler;
    return this;
  }

  /**
   * Work until SIGTERM or SIGINT, or `stop`; then drain:
   *
   *     first signal     no more polls, heartbeats continue
   *     after `drain`    handlers are aborted with `Draining`, and have 5 s
   *     then             the remaining jobs are released, which costs no attempt
   *     second signal    all jobs are released at once
   *
   * @throws YardmasterError only when an operator must act: the key or the polls are refused
   */
  async run(): Promise<void> {
    if (this.#session !== null) throw new Error('The worker is running already');
    if (this.#handlers.size === 0 && this.#any === null)
      throw new Error('Register a handler with on(name, handler) before run()');
    const { healthPort } = this.#options;
    const health = new Health();
    if (healthPort !== undefined) await health.serve(healthPort);
    try {
      await this.#work(health);
    } finally {
      health.close();
    }
  }

  async #work(health: Health): Promise<void> {
    const { concurrency = CONCURRENCY, drain = DRAIN, autoAck = false, onWarning, onLog } = this.#options;
    const session = new Session(new Target(this.#client.target.fields(), viaHttp), {
      handlers: this.#handlers,
      any: this.#any,
      concurrency,
      autoAck,
      drainMs: secondsOf(drain, 'drain') * 1_000,
      warn: guarded('onWarning', onWarning ?? writeWarning),
      onLog: onLog && guarded('onLog', onLog),
      writesWarnings: onWarning === undefined,
    });
    this.#session = session;
    const stop = () => session.stop();
    const signals = (this.#options.handleSignals ?? true) ? (['SIGTERM', 'SIGINT'] as const) : [];
    for (const signal of signals) process.on(signal, stop);
    try {
      const poller = new Poller(this.#workerId(), health);
      await session.run((signal) => poller.run(session, signal));
    } finally {
      for (const signal of signals) process.off(signal, stop);
      this.#session = null;
    }
  }

  #workerId(): string {
    return (this.#options.workerId ?? `${hostname()}-${process.pid}`).slice(0, MOST_WORKER_ID);
  }

  /** Stop as at a signal: drain the first time, release all jobs at once the second time. */
  stop(): void {
    this.#session?.stop();
  }
}
