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

/** Options of a worker. */
export interface WorkerOptions {
  /** Maximum number of jobs to run at once. Default: 10 */
  concurrency?: number;
  /** How long handlers may continue after the worker is told to stop. Default: 25 s */
  drain?: Duration;
  /**
   * Start jobs with the poll that claims them. This saves a call per job, but if the response is lost, its jobs must first
   * time out, which uses up an attempt. Default: false
   */
  autoAck?: boolean;
  /** Name shown on the jobs of the worker, at most 128 characters. Default: host and process ID */
  workerId?: string;
  /** Port that serves `/healthz`. Default: none */
  healthPort?: number;
  /** Called when something needs attention but doesn't stop the worker. Default: write to stderr */
  onWarning?: OnWarning;
  /** Also called with what handlers log, for example `toPino(logger)`. Default: none */
  onLog?: OnLog;
  /** Whether SIGTERM and SIGINT stop the worker. If false, call `stop`. Default: true */
  handleSignals?: boolean;
}

/**
 * Runs a job. What it returns becomes the result. What it throws fails the attempt: see `NonRetryable` and `RetryAfter`.
 * Return `context.release(…)` to put the job back in the queue.
 */
export type Handler<Payload, Result, Checkpoint = unknown> = (
  job: WorkerJob<Payload>,
  context: Context<Checkpoint>,
) => Result | Released | Promise<Result | Released>;

const CONCURRENCY = 10;
const DRAIN = '25s';
/** Longest drain, in seconds. A timer takes 31 bits of milliseconds. */
const MOST_DRAIN = 2_000_000;
/** Limits of the service: names per poll, and characters of a worker ID. */
const MOST_NAMES = 100;
const MOST_WORKER_ID = 128;

/** Claims jobs and calls their handlers. It uses the job types of its client. */
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
      throw new RangeError(`concurrency must be a positive whole number; got ${concurrency}`);
    secondsOf(drain, 'drain', MOST_DRAIN);
    this.#client = client;
    this.#options = options;
  }

  /** Register the handler for a name. */
  on<Name extends NameOf<Jobs>>(
    name: Name,
    handler: Handler<PayloadOf<Jobs, Name>, ResultOf<Jobs, Name>, CheckpointOf<Jobs, Name>>,
  ): this;
  /**
   * Register a handler with a Standard Schema. A payload that doesn't match makes its job dead; the error names the
   * field.
   */
  on<Name extends NameOf<Jobs>, Payload>(
    name: Name,
    schema: StandardSchema<unknown, Payload>,
    handler: Handler<Payload, ResultOf<Jobs, Name>, CheckpointOf<Jobs, Name>>,
  ): this;
  on(name: string, second: unknown, third?: unknown): this {
    const handler = (third ?? second) as AnyHandler;
    if (name === '' || typeof handler !== 'function') throw new TypeError('on() needs a name and a handler');
    if (this.#handlers.has(name)) throw new TypeError(`${name} already has a handler`);
    if (this.#handlers.size === MOST_NAMES)
      throw new RangeError(`A worker can have handlers for at most ${MOST_NAMES} names`);
    const validating: AnyHandler = async (job, context) =>
      handler({ ...job, payload: await validated(second as StandardSchema, job.payload) }, context);
    this.#handlers.set(name, third === undefined ? handler : validating);
    return this;
  }

  /** Register a handler for all other names, so that the worker claims jobs with any name. */
  // biome-ignore lint/suspicious/noExplicitAny: jobs of any name come
  onAny(handler: Handler<any, unknown, any>): this {
    this.#any = handler;
    return this;
  }

  /**
   * Run until SIGTERM, SIGINT or `stop`, then drain:
   *
   *     first signal     no more polls, heartbeats continue
   *     after `drain`    handlers are aborted with `Draining` and get 5 s
   *     then             the remaining jobs are released without using up an attempt
   *     second signal    all jobs are released immediately
   *
   * @throws YardmasterError only if someone has to act: the key or the polls are refused
   */
  async run(): Promise<void> {
    if (this.#session !== null) throw new Error('The worker is already running');
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

  /** Stop as if by a signal: the first call drains, a second one releases all jobs immediately. */
  stop(): void {
    this.#session?.stop();
  }
}
