/** Callbacks of one host that wait for their turn or are being sent. */
interface HostQueue {
  waiting: (() => void)[];
  sending: number;
}

export interface HostFairQueueOptions {
  /** Callbacks sent to one host at once. */
  perHost: number;
  /** Callbacks sent to all hosts at once. */
  inAll: number;
  /** Callbacks in all queues at once, including those that are being sent. */
  capacity: number;
}

/**
 * Queues of callbacks, one for each host, so that a receiver that hangs delays only its own callbacks. Hosts take
 * turns. No host gets more of the shared capacity or connections than remains for the others at that moment. So the
 * next host finds room, however many hosts hang.
 */
export class HostFairQueue {
  readonly #options: HostFairQueueOptions;
  /** The host whose turn is next comes first. */
  readonly #lines = new Map<string, HostQueue>();
  #held = 0;
  #sending = 0;

  constructor(options: HostFairQueueOptions) {
    this.#options = options;
  }

  /** Whether one more callback may wait for this host. */
  hasRoom(host: string): boolean {
    const { waiting = [], sending = 0 } = this.#lines.get(host) ?? {};
    return waiting.length + sending < this.#options.capacity - this.#held;
  }

  /** Run the work when it is the host's turn. */
  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(host) ?? { waiting: [], sending: 0 };
    this.#lines.set(host, line);
    this.#held++;
    await new Promise<void>((resolve) => {
      line.waiting.push(resolve);
      this.#serve();
    });
    try {
      return await work();
    } finally {
      line.sending--;
      this.#sending--;
      this.#held--;
      if (line.sending + line.waiting.length === 0) this.#lines.delete(host);
      this.#serve();
    }
  }

  #serve(): void {
    for (const [host, line] of this.#lines) {
      const next = this.#mayStart(line) ? line.waiting.shift() : undefined;
      if (next === undefined) continue;
      line.sending++;
      this.#sending++;
      next();
      // The host goes behind all others, where this loop reaches it again.
      this.#lines.delete(host);
      this.#lines.set(host, line);
    }
  }

  #mayStart({ sending }: HostQueue): boolean {
    const { perHost, inAll } = this.#options;
    return sending < perHost && sending < inAll - this.#sending;
  }
}
