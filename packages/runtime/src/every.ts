import type { Service } from './service.js';

export interface EveryOptions {
  /** Name in the log. */
  name: string;
  /** Time between two runs, milliseconds. */
  ms: number;
  /** Do the work once. It must not throw: it reports its own failures. */
  run: () => unknown;
  /** Whether the work is done once more when the service stops. Default false. */
  runsAtStop?: boolean;
}

/**
 * Create a service that does its work again and again. While a run takes longer than the time between two, the runs in
 * between are left out. Its stop waits for the open run, for as long as the stop may take. The timer does not keep the
 * process from ending.
 */
export function every({ name, ms, run, runsAtStop = false }: EveryOptions): Service {
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
        if (runsAtStop) await run();
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
