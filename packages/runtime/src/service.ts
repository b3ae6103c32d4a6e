/** A part of a process that is started once and stopped once. */
export interface Service {
  /** Name in the log. */
  readonly name: string;
  /** Start; resolves when the service does its work. */
  start(): Promise<void>;
  /**
   * Take no new work, finish the open work and release everything. Safe during a start, and after a start that failed.
   *
   * @param withinMs time after which open work is cut off
   */
  stop(withinMs: number): Promise<void>;
}

/**
 * Compose services into one. They start in order. They stop in the reverse order, group by group, and the services of a
 * group stop at the same time. A start that fails, or that is stopped, stops the started services, and then throws.
 *
 * A service whose stop fails does not keep the others from stopping; the stop then throws the first error.
 */
export function compose(name: string, groups: readonly (readonly Service[])[]): Service {
  const started: Service[][] = [];
  let stopped: Promise<void> | undefined;

  async function stopAll(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    const errors: unknown[] = [];
    for (const group of started.reverse()) {
      const leftMs = Math.max(0, end - performance.now());
      const outcomes = await Promise.allSettled(group.map((service) => service.stop(leftMs)));
      for (const outcome of outcomes) if (outcome.status === 'rejected') errors.push(outcome.reason);
    }
    if (errors.length > 0) throw errors[0];
  }

  async function startAll(): Promise<void> {
    for (const group of groups) {
      const running: Service[] = [];
      started.push(running);
      for (const service of group) {
        if (stopped !== undefined) throw new Error(`${name} was stopped while it started`);
        running.push(service); // Add it before its start, because a stop must also reach a starting service.
        await service.start();
      }
    }
  }

  function stop(withinMs: number): Promise<void> {
    stopped ??= stopAll(withinMs);
    return stopped;
  }

  return {
    name,
    stop,
    async start() {
      try {
        await startAll();
      } catch (error) {
        await stop(0).catch(() => undefined); // The error of the start is more useful.
        throw error;
      }
    },
  };
}

export interface EveryOptions {
  /** Name in the log. */
  name: string;
  /** Time between two runs, milliseconds. */
  ms: number;
  /** Do the work once. It must not throw: it reports its own failures. */
  run: () => unknown;
  /** Work to do once when the service stops, after the open run. It must not throw either. Default: none. */
  atStop?: () => unknown;
}

/**
 * Create a service that does its work again and again. While a run takes longer than the time between two, the runs in
 * between are left out. Its stop waits for the open run, for as long as the stop may take. The timer does not keep the
 * process from ending.
 */
export function every({ name, ms, run, atStop }: EveryOptions): Service {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function runOnce(): Promise<void> {
    await run();
    running = undefined;
  }

  return {
    name,
    async start() {
      timer = setInterval(() => {
        running ??= runOnce();
      }, ms).unref();
    },
    async stop(withinMs) {
      clearInterval(timer);
      const lastRun = async () => {
        await running;
        await atStop?.();
      };
      let limit: NodeJS.Timeout | undefined;
      const tooLate = new Promise<void>((resolve) => {
        limit = setTimeout(resolve, withinMs);
      });
      await Promise.race([lastRun(), tooLate]);
      clearTimeout(limit);
    },
  };
}
