import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../test/support/random.js';
import type { History } from '../checker/history.js';
import type { Installation } from '../installation/installation.js';
import type { Caller } from './client.js';
import { type JobPlan, planOf, SPACES } from './plan.js';
import { startReceivers } from './receivers.js';
import { createWatchers } from './watchers.js';
import { type Crew, claimAndWork, runWorker } from './worker.js';

export interface LoadOptions {
  installation: Installation;
  call: Caller;
  history: History;
  seed: number;
  rate: number; // Jobs per second.
}

const WORKERS = 12;
const WATCHERS = 2; // Per space.

/** Producers, workers, operators, watchers and receivers of callbacks during a run. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Start it: jobs at an even rate, whether or not there were responses to those before. */
export async function startLoad({ installation, call, history, seed, rate }: LoadOptions) {
  const receivers = await startReceivers();
  const watchers = createWatchers(installation, history);
  let tokens = 0;
  let isCreating = true;
  let isOver = false;
  const crew: Crew = {
    call,
    random: new Random(seed),
    planOf: (n) => planOf(seed, n),
    claimed: new Map(),
    token: () => `token-${++tokens}`,
    isOver: () => isOver,
  };
  const busy = new Set<Promise<unknown>>();
  function begin(work: Promise<unknown>): void {
    busy.add(work);
    void work.finally(() => busy.delete(work));
  }

  /** The number in the payload names the plan, so that any worker can carry it out. */
  async function create({ n, spaceId, name, maxRetries, timeoutSeconds, receiving, ...plan }: JobPlan): Promise<void> {
    const callback = receiving === null ? {} : { callbackUrl: receivers.urlFor(n, receiving) };
    const sent = { name, payload: { n }, maxRetries, timeoutSeconds, ...callback };
    const { outcome, jobId } = await call({ client: 'producer', op: 'create', spaceId, sent });
    if (outcome !== 'ok' || jobId === null) return;
    if (plan.watched) watchers.watchJob(`watcher-of-${n}`, jobId, plan.watched === 'with key');
    if (plan.isClaimed) for (const which of ['a', 'b']) begin(claimAndWork(`claimer-${which}-${n}`, jobId, crew));
    if (plan.killAfterMs !== null) begin(delay(plan.killAfterMs).then(() => kill(n, jobId)));
  }

  async function kill(n: number, jobId: string): Promise<void> {
    for (let times = n % 2 === 0 ? 2 : 1; times > 0; times--)
      await call({ client: `operator-${n}`, op: 'kill', jobId, sent: { reason: crew.token() } });
  }

  async function produce(): Promise<void> {
    const began = performance.now();
    for (let n = 0; isCreating; n++) {
      begin(create(crew.planOf(n)));
      await delay(Math.max(0, began + ((n + 1) / rate) * 1_000 - performance.now()));
    }
  }

  for (const spaceId of SPACES)
    for (let i = 1; i <= WATCHERS; i++) watchers.watchSpace(`watcher-${spaceId}-${i}`, spaceId);
  const producing = produce();
  for (let i = 1; i <= WORKERS; i++) begin(runWorker(`worker-${i}`, crew));

  /** Create no more jobs; workers, watchers and receivers go on. */
  async function stopCreating(): Promise<void> {
    isCreating = false;
    await producing;
  }

  return {
    callbackUrl: receivers.urlFor, // A URL for a job of a fault, whose callbacks are written down.
    heardAt: watchers.heardAt, // When watchers of spaces got a message, epoch milliseconds.
    stopCreating,
    /** End it, and write down what watchers and receivers got. */
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
