import { randomUUID } from 'node:crypto';
import { pause } from '../backoff.js';
import { type Duration, secondsOf } from '../durations.js';
import { YardmasterError } from '../errors.js';
import type { Operation, OperationFilterRequest, OperationRequestAction } from '../wire.generated.js';
import type { CallOptions } from './options.js';
import { type Sender, spacePath } from './transport.js';

/** Options of an operation. */
export interface OperationOptions {
  /** Maximum number of jobs to change. Default: all */
  limit?: number;
  /** Only count the jobs that would be changed. Default: false */
  dryRun?: boolean;
  /** Reason, shown with the operation. */
  reason?: string;
  /** Delay until the jobs are claimable. Only for requeue, and required for reschedule. */
  delay?: Duration;
}

/** Starts operations on all jobs of the space that match a filter. */
export class Operations {
  readonly #client: Sender;

  constructor(client: Sender) {
    this.#client = client;
  }

  /** Start an operation. Retries don't start a second one. */
  async start(
    action: OperationRequestAction,
    filter: OperationFilterRequest,
    options: OperationOptions & CallOptions = {},
  ): Promise<OperationHandle> {
    const { idempotencyKey = randomUUID(), signal, delay, ...others } = options;
    const delaySeconds = delay === undefined ? undefined : secondsOf(delay, 'delay');
    const request = {
      method: 'POST',
      path: spacePath(this.#client.target, '/operations'),
      headers: { 'idempotency-key': idempotencyKey },
      body: JSON.stringify({ action, filter, ...others, delaySeconds }),
    } as const;
    return this.handle((await this.#client.send<Operation>(request, signal)).id);
  }

  /** Return a handle to an existing operation. */
  handle(id: string): OperationHandle {
    return new OperationHandle(this.#client, id);
  }
}

const FIRST_WAIT_MS = 100;
const MOST_WAIT_MS = 2_000;

/** A handle to an operation. */
export class OperationHandle {
  readonly id: string;
  readonly #client: Sender;

  constructor(client: Sender, id: string) {
    this.#client = client;
    this.id = id;
  }

  get #path(): string {
    return `/operations/${encodeURIComponent(this.id)}`;
  }

  /** Return the current state of the operation. */
  get(signal?: AbortSignal): Promise<Operation> {
    return this.#client.send({ method: 'GET', path: this.#path }, signal);
  }

  /**
   * Wait until the operation is done or canceled.
   *
   * @param options.timeout how long to wait. Default: no limit
   * @throws YardmasterError `TIMEOUT`
   */
  async wait(options: { timeout?: Duration; signal?: AbortSignal } = {}): Promise<Operation> {
    const { timeout, signal } = options;
    const seconds = timeout === undefined ? Number.POSITIVE_INFINITY : secondsOf(timeout, 'timeout');
    const end = performance.now() + seconds * 1_000;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MOST_WAIT_MS)) {
      const operation = await this.get(signal);
      if (operation.status !== 'running') return operation;
      const leftMs = end - performance.now();
      if (leftMs <= 0) throw new YardmasterError('TIMEOUT', `The operation is still running after ${seconds} s`);
      if (!(await pause(Math.min(waitMs, leftMs), signal))) signal?.throwIfAborted();
    }
  }

  /** Cancel the operation. Jobs that it has changed stay changed. */
  async cancel(signal?: AbortSignal): Promise<void> {
    await this.#client.send({ method: 'DELETE', path: this.#path }, signal);
  }
}
