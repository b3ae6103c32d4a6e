/** Callbacks that wait for their turn or are being sent, of one host. */
interface Line {
  waiting: (() => void)[];
  sending: number;
}

export interface LinesOptions {
  /** Sent to one host at once. */
  perHost: number;
  /** Sent at once in all. */
  inAll: number;
  /** Places in all, those of what is being sent among them. */
  places: number;
}

/**
 * One line for each host, so that a receiver that hangs holds up nobody but itself. Hosts take turns, and none gets
 * more of what all share, places or connections, than is left for others by then: however many hosts hang, the next
 * one finds room.
 */
export class Lines {
  readonly #options: LinesOptions;
  /** Whose turn it is next stands first. */
  readonly #lines = new Map<string, Line>();
  #held = 0;
  #sending = 0;

  constructor(options: LinesOptions) {
    this.#options = options;
  }

  /** Whether one more may wait for this host. */
  hasRoom(host: string): boolean {
    const { waiting = [], sending = 0 } = this.#lines.get(host) ?? {};
    return waiting.length + sending < this.#options.places - this.#held;
  }

  /** Do this when it is the host's turn. */
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
      // Behind all others, where this loop comes by again.
      this.#lines.delete(host);
      this.#lines.set(host, line);
    }
  }

  #mayStart({ sending }: Line): boolean {
    const { perHost, inAll } = this.#options;
    return sending < perHost && sending < inAll - this.#sending;
  }
}
