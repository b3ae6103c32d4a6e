/** Waiting and running calls for a host. */
interface HostWork {
  waiting: (() => void)[];
  running: number;
}

export interface HostLimiterOptions {
  /** Maximum running calls per host. */
  perHost: number;
  /** Maximum running calls for all hosts. */
  atOnce: number;
  /** Maximum waiting and running calls for all hosts. */
  capacity: number;
}

/**
 * Runs calls to hosts in slots, with a queue per host, so that a receiver that hangs delays only its own callbacks. Hosts get
 * slots in turn. A host never gets more of the shared capacity or slots than what then remains for the others, so that the
 * next host always finds room, however many hosts hang.
 */
export class HostLimiter {
  readonly #options: HostLimiterOptions;
  /** Calls by host; the host that gets the next slot comes first. */
  readonly #hosts = new Map<string, HostWork>();
  #size = 0;
  #running = 0;

  constructor(options: HostLimiterOptions) {
    this.#options = options;
  }

  /** Return whether there is no room for any host. */
  isFull(): boolean {
    return this.#size >= this.#options.capacity;
  }

  /** Return whether one more call may wait for this host. */
  hasRoom(host: string): boolean {
    const { waiting = [], running = 0 } = this.#hosts.get(host) ?? {};
    return waiting.length + running < this.#options.capacity - this.#size;
  }

  /** Return whether a call to this host would run immediately. */
  hasSlot(host: string): boolean {
    const { waiting = [], running = 0 } = this.#hosts.get(host) ?? {};
    return waiting.length === 0 && this.#isFree(running);
  }

  /** Run the work once the host has a slot. */
  async run<T>(host: string, work: () => Promise<T>): Promise<T> {
    const own = this.#hosts.get(host) ?? { waiting: [], running: 0 };
    this.#hosts.set(host, own);
    this.#size++;
    await new Promise<void>((resolve) => {
      own.waiting.push(resolve);
      this.#fillSlots();
    });
    try {
      return await work();
    } finally {
      own.running--;
      this.#running--;
      this.#size--;
      if (own.running + own.waiting.length === 0) this.#hosts.delete(host);
      this.#fillSlots();
    }
  }

  #fillSlots(): void {
    for (const [host, own] of this.#hosts) {
      const begin = this.#isFree(own.running) ? own.waiting.shift() : undefined;
      if (begin === undefined) continue;
      own.running++;
      this.#running++;
      begin();
      // Move the host behind all others, where this loop reaches it again.
      this.#hosts.delete(host);
      this.#hosts.set(host, own);
    }
  }

  /** Return whether a host may get another slot. @param running calls running for it */
  #isFree(running: number): boolean {
    const { perHost, atOnce } = this.#options;
    return running < perHost && running < atOnce - this.#running;
  }
}
