import { YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { callbackUrlOf, type Debt, type Store } from '@yardmaster/store';
import type { Delivered } from './deliver.js';
import { Lines } from './lines.js';

/** Debts that one process holds at once, waiting or being sent: some 10 MB. */
const PLACES = 10_000;

/**
 * Callbacks being sent at once, each over a connection of its own, with its body: up to 256 KB unless the operator
 * allows more.
 */
const IN_ALL = 512;

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
 * Where debts wait for their turn. What waits here is written nowhere else than in Redis' `callbacks`; should this
 * process end, the relay finds it.
 */
export class Desk {
  readonly #options: DeskOptions;
  readonly #lines: Lines;
  /** By debt; the same one may be handed in twice. */
  readonly #held = new Map<string, Promise<void>>();
  #isClosing = false;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#lines = new Lines({ perHost: options.perHost, inAll: IN_ALL, places: PLACES });
  }

  /**
   * Look which host a debt is for.
   *
   * @returns null when there is nothing to send: the job is gone, and with it the debt
   * @throws UNAVAILABLE
   */
  async hostOf({ jobId }: Debt): Promise<string | null> {
    const url = await callbackUrlOf(this.#options.store, jobId);
    return url === null ? null : new URL(url).host;
  }

  /** Whether one more debt of this host can be taken. */
  hasRoom(host: string): boolean {
    return !this.#isClosing && this.#lines.hasRoom(host);
  }

  /** Take a debt and see it through to the outcome of one attempt. */
  take(debt: Debt, host: string): void {
    const id = `${debt.jobId} ${debt.round}`;
    if (this.#held.has(id)) return;
    this.#held.set(
      id,
      this.#serve(debt, host).finally(() => this.#held.delete(id)),
    );
  }

  /** Finish what is being sent; hand back what waits. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#held.values());
  }

  async #serve(debt: Debt, host: string): Promise<void> {
    const { deliver, comeBack, log } = this.#options;
    const { jobId } = debt;
    try {
      const { againMs, outcome } = await this.#lines.run(host, async () =>
        this.#isClosing ? { againMs: 0, outcome: null } : deliver(debt),
      );
      if (outcome !== null) log.debug({ jobId, host, type: outcome.type, againMs }, 'callback attempted');
      if (againMs !== null) await comeBack([debt], againMs);
    } catch (err) {
      // The debt is still written in Redis, and will be looked at again. An outage is told elsewhere.
      log[err instanceof YardmasterError ? 'debug' : 'warn']({ jobId, err }, 'callback left to the relay');
    }
  }
}
