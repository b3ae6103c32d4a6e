import { setTimeout as delay } from 'node:timers/promises';
import { randomOf } from '../../logs/random.js';
import type { Caller } from '../client.js';
import type { Call, History } from '../history.js';
import type { Installation } from '../installation.js';
import { type JobPlan, planOf, type Receiving, SPACES } from './plan.js';
import { type Receivers, startReceivers } from './receivers.js';
import { createWatchers } from './watchers.js';
import { type Crew, claimAndLead, runWorker } from './worker.js';

/** Everybody who uses the installation during a run. */
export interface Load {
  /** Creations that were answered so far, whatever was answered. */
  created(): number;
  /** A URL for a job of somebody else's whose callbacks are written down, by a receiver that takes each unless told. */
  callbackUrl(n: number, receiving?: Receiving): string;
  /** Create no more jobs; workers, watchers and receivers go on. */
  stopCreating(): Promise<void>;
  /** Send them all home, and have written down what watchers and receivers got. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  installation: Installation;
  call: Caller;
  history: History;
  seed: number;
  /** Jobs a second. */
  rate: number;
}

const WORKERS = 12;

/** For each space. */
const WATCHERS = 2;

/** What a job is created with. The plan is found again by the number in its payload, so any worker can lead it. */
function requestOf(plan: JobPlan, receivers: Receivers) {
  const { n, name, maxRetries, timeoutSeconds } = plan;
  const callbackUrl = receivers.urlOf(plan);
  return { name, payload: { n }, maxRetries, timeoutSeconds, ...(callbackUrl === null ? {} : { callbackUrl }) };
}

/** Start it: jobs at an even rate, whether or not those before were answered. */
export async function startLoad({ installation, call, history, seed, rate }: LoadOptions): Promise<Load> {
  const receivers = await startReceivers();
  const watchers = createWatchers(installation.gateways, installation.key, history);
  let tokens = 0;
  let isCreating = true;
  let isOver = false;
  let created = 0;
  const crew: Crew = {
    call,
    random: randomOf(seed),
    planOf: (n) => planOf(seed, n),
    handedOut: new Map(),
    token: () => `token-${++tokens}`,
    isOver: () => isOver,
  };
  const busy = new Set<Promise<unknown>>();
  function begin(work: Promise<unknown>): void {
    busy.add(work);
    void work.finally(() => busy.delete(work));
  }

  async function live(plan: JobPlan): Promise<void> {
    const { n, spaceId } = plan;
    const sent = requestOf(plan, receivers);
    const answer: Call = await call({ client: 'producer', op: 'create', spaceId, sent });
    created++;
    if (answer.outcome !== 'ok' || answer.jobId === null) return;
    const { jobId } = answer;
    if (plan.watched) watchers.watchJob(`watcher-of-${n}`, jobId, plan.watched === 'with key');
    if (plan.isClaimed) for (const which of ['a', 'b']) begin(claimAndLead(`claimer-${which}-${n}`, jobId, crew));
    if (plan.killAfterMs !== null) begin(kill(plan, jobId));
  }

  async function kill({ n, killAfterMs }: JobPlan, jobId: string): Promise<void> {
    await delay(killAfterMs as number);
    const again = { client: `operator-${n}`, op: 'kill', jobId } as const;
    await call({ ...again, sent: { reason: crew.token() } });
    if (n % 2 === 0) await call({ ...again, sent: { reason: crew.token() } });
  }

  async function produce(): Promise<void> {
    const began = performance.now();
    for (let n = 0; isCreating; n++) {
      begin(live(crew.planOf(n)));
      await delay(Math.max(0, began + ((n + 1) / rate) * 1_000 - performance.now()));
    }
  }

  for (const spaceId of SPACES)
    for (let i = 1; i <= WATCHERS; i++) watchers.watchSpace(`watcher-${spaceId}-${i}`, spaceId);
  const producing = produce();
  for (let i = 1; i <= WORKERS; i++) begin(runWorker(`worker-${i}`, crew));

  return {
    created: () => created,
    callbackUrl: receivers.urlFor,
    async stopCreating() {
      isCreating = false;
      await producing;
    },
    async stop() {
      isCreating = false;
      isOver = true;
      await producing;
      while (busy.size > 0) await Promise.all(busy);
      await watchers.stop();
      receivers.record(history);
      await receivers.close();
    },
  };
}
