import { setTimeout as delay } from 'node:timers/promises';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import type { AppProcess } from '../installation/app-process.js';
import type { Installation } from '../installation/installation.js';
import { SDK_SPACE } from '../load/plan.js';

const DRIVER = '../../sdk/conformance/driver.mjs'; // It has no types.
const { startDriver } = await import(DRIVER);

const JOBS = 24; // Per lap.
const EVERY_MS = 1_000;
const HANDLERS = {
  quick: [{ return: 1 }],
  busy: [{ progress: { percent: 50, message: 'half' } }, { logs: 20 }, { sleepMs: 200 }, { save: { page: 1 } }],
  slow: [{ sleepMs: 3_000 }], // Longer than a drain, so that the worker releases the job.
};
const NAMES = Object.keys(HANDLERS);
const WORKER = { concurrency: 5, drainSeconds: 1, handlers: HANDLERS };
const OPTIONS = { timeoutSeconds: 5, maxRetries: 20 }; // A worker may lose its job in an outage.

/**
 * Start two workers of an SDK in a separate space: one for the whole soak, which also creates the jobs, and one that is restarted
 * in each lap. Their calls are not in the history, so the rules do not judge their jobs.
 */
export function startSdkWorkers(language: string, { apis, key, store }: Installation) {
  const [first, last] = [apis[0], apis.at(-1)] as [AppProcess, AppProcess]; // Faults kill only the last API.
  function start({ url }: AppProcess) {
    const driver = startDriver(language, { YARDMASTER_URL: url, YARDMASTER_API_KEY: key, YARDMASTER_SPACE: SDK_SPACE });
    driver.send({ do: 'start', worker: WORKER });
    return driver;
  }
  const lasting = start(first);
  let restarted = start(last);

  return {
    pid: lasting.pid as number,
    /** Create jobs, and restart a worker halfway. @returns function that checks the jobs once all work is done */
    async runLap(): Promise<() => Promise<string[]>> {
      const old = restarted;
      for (let n = 0; n < JOBS; n++) {
        if (n === JOBS / 2) {
          restarted = start(last);
          old.signal('SIGTERM');
        }
        lasting.send({ do: 'create', as: `job ${n}`, name: NAMES[n % NAMES.length], options: OPTIONS });
        await delay(EVERY_MS);
      }
      const code = await old.exited;
      return async () => {
        const faults = code === 0 ? [] : [`a worker exited with ${code}: ${old.errors()}`];
        for (const { event, jobId } of lasting.events.splice(0)) {
          if (event !== 'created') continue;
          const { status } = await getJob(store, ANY_SPACE, jobId);
          if (status !== 'completed') faults.push(`${jobId} of the SDK is ${status}`);
        }
        return faults;
      };
    },
    stop(): void {
      lasting.kill();
      restarted.kill();
    },
  };
}
