/** A part of a process that is started once and stopped once. */
export interface Service {
  /** Name in the log. */
  readonly name: string;
  /** Start the service; resolves once it does its work. */
  start(): Promise<void>;
  /**
   * Take no new work, finish open work and release all resources. Safe during a start and after a failed start.
   *
   * @param withinMs time after which open work is cut off
   */
  stop(withinMs: number): Promise<void>;
}

/**
 * Compose services into one. They start in order and stop in reverse order, group by group; the services of a group stop
 * concurrently. If a start fails or is stopped, the services already started are stopped, and the start throws.
 *
 * If stopping a service fails, the others are still stopped, and the stop throws the first error.
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
        if (stopped !== undefined) throw new Error(`${name} was stopped while it was starting`);
        running.push(service); // Before its start, because a stop must also reach a starting service.
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
        await stop(0).catch(() => undefined); // The error of the start matters more.
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
  /** Do the work once. Must not throw, but report its own failures. */
  run: () => unknown;
  /** Work to do once when the service stops, after the open run. Must not throw either. Default: none. */
  atStop?: () => unknown;
}

/**
 * Create a service that does its work periodically. Runs that would overlap a slow one are skipped. Stopping waits for the
 * open run, for at most as long as the stop may take. The timer doesn't keep the process alive.
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
