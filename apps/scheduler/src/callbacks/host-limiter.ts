/** Work for one host: the waiting work, and the number of running calls. */
interface HostWork {
  waiting: (() => void)[];
  running: number;
}

export interface HostLimiterOptions {
  /** Work that runs for one host at once. */
  perHost: number;
  /** Work that runs for all hosts at once. */
  atOnce: number;
  /** Work for all hosts, waiting or running. */
  capacity: number;
}

/**
 * Runs work for hosts in slots, with a queue for each host, so that a receiver that hangs delays only its own callbacks.
 * Hosts get slots in turn. No host gets more of the shared capacity or slots than remains for the others at that moment.
 * So the next host finds room, however many hosts hang.
 */
export class HostLimiter {
  readonly #options: HostLimiterOptions;
  /** The host that gets the next slot comes first. */
  readonly #hosts = new Map<string, HostWork>();
  #size = 0;
  #running = 0;

  constructor(options: HostLimiterOptions) {
    this.#options = options;
  }

  /** Whether there is no room for any host. */
  isFull(): boolean {
    return this.#size >= this.#options.capacity;
  }

  /** Whether one more piece of work may wait for this host. */
  hasRoom(host: string): boolean {
    const { waiting = [], running = 0 } = this.#hosts.get(host) ?? {};
    return waiting.length + running < this.#options.capacity - this.#size;
  }

  /** Whether work for this host runs at once. */
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
      // The host goes behind all others, where this loop reaches it again.
      this.#hosts.delete(host);
      this.#hosts.set(host, own);
    }
  }

  /** Whether a host gets another slot. @param running work that runs for it now */
  #isFree(running: number): boolean {
    const { perHost, atOnce } = this.#options;
    return running < perHost && running < atOnce - this.#running;
  }
}
