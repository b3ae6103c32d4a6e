import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, ackJob, createJob, pollJobs, redisNow, type Store } from '@yardmaster/store';
import { during } from './during.js';
import { hasEnded, type RunningProcess, runApp } from './process.js';
import { startService, type TestService } from './service.js';
import { LONG_REDIS_TIMEOUT, sharedService } from './shared-service.js';
import { until } from './until.js';

/** An API of the test's own, and schedulers as processes that can be killed. */
export interface Fleet {
  service: TestService;
  /** Start one more scheduler, with additional settings, and wait until it is ready. */
  start(more?: Record<string, string>): Promise<RunningProcess>;
  /** Stop all, check that each exited with 0 unless the test killed it, and check what they leave in Redis. */
  stop(): Promise<void>;
}

export interface FleetOptions {
  /** Default 1. */
  schedulers?: number;
  /** For the API and the schedulers. */
  env?: Record<string, string>;
  /** Default: the Redis that test files share. */
  redis?: { readonly url: string };
}

export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { schedulers = 1, env = {}, redis = { url: sharedService().redisUrl } } = options;
  const service = await startService(env, { redis, app: 'api', isOwn: true });
  const processes: RunningProcess[] = [];

  async function start(more: Record<string, string> = {}): Promise<RunningProcess> {
    const made = runApp('scheduler', {
      ...LONG_REDIS_TIMEOUT,
      REDIS_URL: redis.url,
      KEY_PREFIX: service.prefix,
      PORT: '0',
      CALLBACK_ALLOW_PRIVATE: 'true',
      LOG_LEVEL: 'debug',
      ...env,
      ...more,
    });
    processes.push(made);
    await until(() => made.output().includes('scheduler listening') || hasEnded(made));
    if (hasEnded(made)) throw new Error(`the scheduler ended:\n${made.output()}`);
    return made;
  }

  async function stop(): Promise<void> {
    const bad: string[] = [];
    await Promise.all(
      processes.map(async (each) => {
        each.child.kill('SIGCONT'); // The test may have stopped it.
        const code = await each.stop();
        if (each.child.signalCode !== 'SIGKILL' && code !== 0)
          bad.push(`ended with ${code}:\n${each.output().slice(-4_000)}`);
      }),
    );
    await service.stop();
    if (bad.length > 0) throw new Error(`a scheduler ${bad.join('\nanother ')}`);
  }

  try {
    await Promise.all(Array.from({ length: schedulers }, () => start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { service, start, stop };
}

/** Start a fleet for all tests of the file, or of the `describe` block. */
export const withFleet = (options?: FleetOptions): Fleet =>
  during(
    () => startFleet(options),
    (fleet) => fleet.stop(),
  );

/** Make many running jobs in an empty space, through the store, because the API would take longer. */
export async function runMany(store: Store, spaceId: string, count: number, fields: object = {}): Promise<string[]> {
  const request = createJobRequest.parse({ name: 'work', ...fields });
  const jobs = await Promise.all(Array.from({ length: count }, () => createJob(store, spaceId, request)));
  for (;;) {
    const { jobs: claimed } = await pollJobs(store, spaceId, { count: 50, names: [] });
    if (claimed.length === 0) return jobs.map(({ job }) => job.id);
    await Promise.all(claimed.map(({ id }) => ackJob(store, ANY_SPACE, id)));
  }
}

/** Move deadlines into the past, so that the next sweep handles them as if the windows or the retention had passed. */
export async function makeDue({ redis, store }: Pick<TestService, 'redis' | 'store'>, ...ids: string[]): Promise<void> {
  const past = (await redisNow(store)) - 1;
  await Promise.all(ids.map((id) => redis.zadd(store.keys.deadlines(id.slice(0, 2)), 'XX', past, id)));
}
