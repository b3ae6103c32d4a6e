import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { callbackUrlOf, type Debt, type Store } from '@yardmaster/store';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Delivered } from './deliver.js';

/** Debts that one process holds at once, waiting or being sent: some 10 MB. */
const HELD_AT_MOST = 10_000;

/** Callbacks being sent at once, to all hosts together: sockets. */
const SENT_AT_ONCE = 1_000;

export interface DeskOptions {
  store: Store;
  deliver: (debt: Debt) => Promise<Delivered>;
  /** Ask to be given these again after a time. */
  comeBack: (debts: readonly Debt[], delayMs: number) => Promise<void>;
  /** Callbacks sent to one host at once. */
  perHost: number;
  log: Logger;
}

/**
 * Where debts wait for their turn: one line for each host, so that a receiver that hangs holds up nobody but itself.
 * What waits here is written nowhere else than in Redis' `callbacks`; should this process end, the relay finds it.
 */
export class Desk {
  readonly #options: DeskOptions;
  /** By debt; the same one may be handed in twice. */
  readonly #held = new Map<string, Promise<void>>();
  readonly #lines = new Map<string, LimitFunction>();
  readonly #inAll = pLimit(SENT_AT_ONCE);
  #isClosing = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  /** Whether one more debt can be taken. */
  get hasRoom(): boolean {
    return !this.#isClosing && this.#held.size < HELD_AT_MOST;
  }

  /** Take a debt and see it through to the outcome of one attempt. */
  take(debt: Debt): void {
    const id = `${debt.jobId} ${debt.round}`;
    if (this.#held.has(id)) return;
    this.#held.set(
      id,
      this.#serve(debt)
        .catch((error) => this.#fail(debt, error))
        .finally(() => this.#held.delete(id)),
    );
  }

  /** Finish what is being sent; hand back what waits. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#held.values());
  }

  async #serve(debt: Debt): Promise<void> {
    const { store, deliver, comeBack, log } = this.#options;
    const url = await callbackUrlOf(store, debt.jobId);
    if (url === null) return; // The job is gone, and with it the debt.
    const { host } = new URL(url);
    const delivered = await this.#inLine(host, () => (this.#isClosing ? { againMs: 0, outcome: null } : deliver(debt)));
    const { againMs, outcome } = delivered;
    if (outcome !== null) log.debug({ jobId: debt.jobId, host, type: outcome.type, againMs }, 'callback attempted');
    if (againMs !== null) await comeBack([debt], againMs);
  }

  async #inLine<T>(host: string, work: () => T | Promise<T>): Promise<T> {
    const line = this.#lines.get(host) ?? pLimit(this.#options.perHost);
    this.#lines.set(host, line);
    try {
      return await line(() => this.#inAll(work));
    } finally {
      if (line.activeCount + line.pendingCount === 0) this.#lines.delete(host);
    }
  }

  /** The debt is still written in Redis, and will be looked at again. */
  #fail({ jobId }: Debt, err: unknown): void {
    const isOutage = err instanceof YardmasterError;
    this.#options.log[isOutage ? 'debug' : 'error']({ jobId, err }, 'callback not attempted');
  }
}
