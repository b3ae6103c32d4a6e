import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../test/support/random.js';
import type { Call, History } from '../checker/history.js';
import type { Installation } from '../installation/installation.js';
import type { Caller } from './client.js';
import { type JobPlan, planOf, SPACES } from './plan.js';
import { startReceivers } from './receivers.js';
import { createWatchers } from './watchers.js';
import { claimAndWork, runWorker, type WorkerContext } from './worker.js';

export interface LoadOptions {
  installation: Installation;
  call: Caller;
  history: History;
  seed: number;
  rate: number; // Jobs per second.
}

const OLDER = { creates: 'once', unique: null, timing: {} } as const; // An older release ignores all of these.
const WORKERS = 12;
const WATCHERS = 2; // Per space.

/** Producers, workers, operators, watchers and receivers of callbacks during a run. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Start the load: jobs at an even rate, whether or not earlier calls have responses. */
export async function startLoad({ installation, call, history, seed, rate }: LoadOptions) {
  const receivers = await startReceivers();
  const watchers = createWatchers(installation, history);
  let texts = 0;
  let isCreating = true;
  let isOver = false;
  const workers: WorkerContext = {
    call,
    random: new Random(seed),
    planOf: (n) => planOf(seed, n),
    claimed: new Map(),
    text: () => `text-${++texts}`,
    isOneRelease: installation.isOneRelease,
    isOver: () => isOver,
  };
  const busy = new Set<Promise<unknown>>();
  function begin(work: Promise<unknown>): void {
    busy.add(work);
    void work.finally(() => busy.delete(work));
  }

  /** The number in the payload identifies the plan, so that any worker can follow it. */
  async function submit({ n, spaceId, name, maxRetries, timeoutSeconds, receiving, ...plan }: JobPlan): Promise<Call> {
    const { creates, unique, timing } = installation.isOneRelease ? plan : OLDER;
    const callback = receiving === null ? {} : { callbackUrl: receivers.urlFor(n, receiving) };
    const sent = {
      name,
      payload: { n },
      maxRetries,
      timeoutSeconds,
      ...callback,
      ...timing,
      ...(unique && { unique }),
    };
    const idempotencyKey = creates === 'once' ? null : `create ${n}`;
    const once = () => call({ client: 'producer', op: 'create', spaceId, idempotencyKey, sent });
    const made = await once();
    const isRepeated = creates === 'twice with a key' || (idempotencyKey !== null && made.outcome === 'unknown');
    return isRepeated ? once() : made;
  }

  async function create(plan: JobPlan): Promise<void> {
    const { n } = plan;
    const { outcome, jobId } = await submit(plan);
    if (outcome !== 'ok' || jobId === null) return;
    if (plan.watched) watchers.watchJob(`watcher-of-${n}`, jobId, plan.watched === 'with key');
    if (plan.isClaimed) for (const which of ['a', 'b']) begin(claimAndWork(`claimer-${which}-${n}`, jobId, workers));
    if (plan.killAfterMs !== null) begin(delay(plan.killAfterMs).then(() => kill(n, jobId)));
  }

  async function kill(n: number, jobId: string): Promise<void> {
    for (let times = n % 2 === 0 ? 2 : 1; times > 0; times--)
      await call({ client: `operator-${n}`, op: 'kill', jobId, sent: { reason: workers.text() } });
  }

  async function produce(): Promise<void> {
    const began = performance.now();
    for (let n = 0; isCreating; n++) {
      begin(create(workers.planOf(n)));
      await delay(Math.max(0, began + ((n + 1) / rate) * 1_000 - performance.now()));
    }
  }

  for (const spaceId of SPACES)
    for (let i = 1; i <= WATCHERS; i++) watchers.watchSpace(`watcher-${spaceId}-${i}`, spaceId);
  const producing = produce();
  for (let i = 1; i <= WORKERS; i++) begin(runWorker(`worker-${i}`, workers));

  /** Create no more jobs; workers, watchers and receivers continue. */
  async function stopCreating(): Promise<void> {
    isCreating = false;
    await producing;
  }

  return {
    callbackUrl: receivers.urlFor, // A URL for a job of a fault, whose callbacks are recorded.
    messageTimes: watchers.messageTimes, // When watchers of spaces got a message, epoch milliseconds.
    stopCreating,
    /** Stop the load, and record the messages of watchers and the requests to receivers. */
    async stop(): Promise<void> {
      isOver = true;
      await stopCreating();
      while (busy.size > 0) await Promise.all(busy);
      await watchers.stop();
      receivers.record(history);
      await receivers.close();
    },
  };
}
