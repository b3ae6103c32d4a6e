import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../test/support/random.js';
import type { Call, History } from '../checker/history.js';
import type { Installation } from '../installation/installation.js';
import type { Clients } from './client.js';
import { type JobPlan, planOf, SPACES } from './plan.js';
import { startReceivers } from './receivers.js';
import type { Request } from './request.js';
import { createWatchers } from './watchers.js';
import { claimAndWork, runSettlingWorker, runTurns, runWorker, type WorkerContext } from './worker.js';

export interface LoadOptions {
  installation: Installation;
  clients: Clients;
  history: History;
  seed: number;
  rate: number; // Jobs per second.
}

const WORKERS = 12;
const LOOPS = [runWorker, runSettlingWorker, runTurns];
const WATCHERS = 2; // Per space.

/** Producers, workers, operators, watchers and callback receivers of a run. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Start the load: jobs at a constant rate, whether or not earlier calls have responses. */
export async function startLoad({ installation, clients, history, seed, rate }: LoadOptions) {
  const { call } = clients;
  const receivers = await startReceivers();
  const watchers = createWatchers(installation, history);
  let texts = 0;
  let isCreating = true;
  let isOver = false;
  const workers: WorkerContext = {
    clients,
    random: new Random(seed),
    planOf: (n) => planOf(seed, n),
    claimed: new Map(),
    text: () => `text-${++texts}`,
    isOver: () => isOver,
  };
  const busy = new Set<Promise<unknown>>();
  function begin(work: Promise<unknown>): void {
    busy.add(work);
    void work.finally(() => busy.delete(work));
  }

  /** Create a request. The number in the payload identifies the plan, so that any worker can follow it. */
  function requestOf({ n, spaceId, name, maxRetries, timeoutSeconds, receiving, ...more }: JobPlan): Request {
    const { creates, unique, timing } = more;
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
    const idempotencyKey = creates === 'once' ? null : `create ${n} of ${seed}`; // The seed distinguishes it from keys of earlier loads.
    return { client: 'producer', op: 'create', spaceId, idempotencyKey, sent };
  }

  async function submit(plans: readonly JobPlan[]): Promise<Call[]> {
    const requests = plans.map(requestOf);
    const [{ creates }] = plans as [JobPlan];
    const [first] = requests as [Request];
    const once = async () => (requests.length === 1 ? [await call(first)] : clients.createList(requests));
    const made = await once();
    const isUnknown = first.idempotencyKey !== null && made.some(({ outcome }) => outcome === 'unknown');
    return creates === 'twice with a key' || isUnknown ? once() : made;
  }

  async function create(plans: readonly JobPlan[]): Promise<void> {
    const made = await submit(plans);
    for (const [i, { outcome, jobId }] of made.entries())
      if (outcome === 'ok' && jobId !== null) follow(plans[i] as JobPlan, jobId);
  }

  function follow({ n, watched, isClaimed, killAfterMs }: JobPlan, jobId: string): void {
    if (watched) watchers.watchJob(`watcher-of-${n}`, jobId, watched === 'with key');
    if (isClaimed) for (const which of ['a', 'b']) begin(claimAndWork(`claimer-${which}-${n}`, jobId, workers));
    if (killAfterMs !== null) begin(delay(killAfterMs).then(() => kill(n, jobId)));
  }

  async function kill(n: number, jobId: string): Promise<void> {
    for (let times = n % 2 === 0 ? 2 : 1; times > 0; times--)
      await call({ client: `operator-${n}`, op: 'kill', jobId, sent: { reason: workers.text() } });
  }

  async function produce(): Promise<void> {
    const began = performance.now();
    for (let n = 0; isCreating; ) {
      const first = workers.planOf(n);
      const { spaceId, creates, together } = first;
      const others = Array.from({ length: together }, (_, i) => ({
        ...workers.planOf(n + 1 + i),
        spaceId,
        creates,
        unique: null,
      }));
      begin(create(together === 0 ? [first] : [{ ...first, unique: null }, ...others]));
      n += 1 + together;
      await delay(Math.max(0, began + (n / rate) * 1_000 - performance.now()));
    }
  }

  for (const spaceId of SPACES)
    for (let i = 1; i <= WATCHERS; i++) watchers.watchSpace(`watcher-${spaceId}-${i}`, spaceId);
  const producing = produce();
  for (let i = 1; i <= WORKERS; i++) begin((LOOPS[i % LOOPS.length] as typeof runWorker)(`worker-${i}`, workers));

  /** Stop creating jobs. Workers, watchers and receivers continue. */
  async function stopCreating(): Promise<void> {
    isCreating = false;
    await producing;
  }

  return {
    callbackUrl: receivers.urlFor, // URL for a job of a fault, whose callbacks are recorded.
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
