import { createJobRequest } from '@yardmaster/protocol';
import { newJobId, partitionOf, type Store } from '@yardmaster/store';
import type { Call as StoreCall } from '../play/calls.js';
import { responseOf } from '../play/outcome.js';
import type { TestStore } from '../play/test-store.js';
import { textOf } from './explore.js';
import { type Call, type Life, MAX_DELIVERIES, MAX_RETRIES, type State, type Step } from './machine.js';

const WINDOW_MS = 1_000;
const RETENTION_MS = 1_000_000_000;

/** Settings of a store that behaves as the machine. */
export const SETTINGS = { deliveryTimeoutMs: WINDOW_MS, maxDeliveries: MAX_DELIVERIES, retentionMs: RETENTION_MS };

/**
 * How long time passes before a call. A space without jobs has forgotten its last order, so a create in the same millisecond
 * would get that order again.
 */
const PASSES_MS: Partial<Record<Call['verb'], number>> = {
  create: 1,
  due: WINDOW_MS + 1,
  delivery_timeout: WINDOW_MS + 1,
  execution_timeout: WINDOW_MS + 1,
  purge: RETENTION_MS + 1,
};

/** Spaces of different partitions: time passes for all tours, but a sweep is that of one partition. */
const SPACES = [...new Map(Array.from({ length: 1_000 }, (_, n) => [partitionOf(`s${n}`), `s${n}`])).values()];

/**
 * Take tours of the machine on the real store, and compare each reply and each state.
 *
 * @throws Error with the path to a difference
 */
export async function takeTours(testStore: TestStore, tours: readonly Step[][]): Promise<void> {
  let now = Date.UTC(2027, 0, 1);
  function pass(ms: number): Promise<void> {
    now += ms;
    return testStore.setClock(now);
  }
  for (let i = 0; i < tours.length; i += SPACES.length) {
    await testStore.empty();
    await pass(0);
    const some = tours.slice(i, i + SPACES.length);
    const taken = some.map((tour, n) => new Tour(testStore.stores[0], SPACES[n] as string, pass).take(tour));
    // All tours end before the store is closed.
    for (const result of await Promise.allSettled(taken)) if (result.status === 'rejected') throw result.reason;
  }
}

class Tour {
  /** Id of each job, once it was created. */
  private readonly ids: string[] = [];
  /** Token of each delivery of a job, in order. */
  private readonly tokens: string[][] = [];

  constructor(
    private readonly store: Store,
    private readonly space: string,
    private readonly pass: (ms: number) => Promise<void>,
  ) {}

  async take(tour: readonly Step[]): Promise<void> {
    for (const [n, { call, reply, after }] of tour.entries()) {
      const compare = (ofStore: unknown, ofMachine: unknown) => {
        const [one, other] = [ofStore, ofMachine].map((value) => JSON.stringify(value));
        if (one !== other)
          throw new Error(`the store has ${one}, and the machine ${other}, after\n${textOf(tour.slice(0, n + 1))}`);
      };
      compare(await this.make(call, after.jobs.length), reply.replace('UNCHANGED', 'OK'));
      // Calls that change nothing are compared together.
      if (after !== tour[n + 1]?.after) compare(await this.stored(after.jobs.length), storedOf(after));
    }
  }

  /** Make a call. @returns the code of its refusal, or OK */
  private async make(call: Call, jobs: number): Promise<string> {
    const { verb, job } = call;
    await this.pass(PASSES_MS[verb] ?? 0);
    this.ids[job] ??= newJobId(this.space);
    const response = await responseOf(this.store, this.storeCallOf(call, jobs));
    if ('code' in response) return response.code;
    const { job: made } = (response.value ?? {}) as { job?: { id: string; deliveryToken: string } };
    // A create may return the other job, which has the unique key.
    if (verb === 'create' && made && !this.ids.includes(made.id)) this.ids[job] = made.id;
    if (verb === 'claim' && made) this.tokens[job] = [...(this.tokens[job] ?? []), made.deliveryToken];
    return 'OK';
  }

  private storeCallOf({ verb, job, age = 0, isDelayed = false }: Call, jobs: number): StoreCall {
    const { space } = this;
    const of = { job: this.ids[job] as string, caller: null };
    const ofWorker = { ...of, token: this.tokens[job]?.at(-1 - age) ?? null };
    const delaySeconds = isDelayed ? WINDOW_MS / 1_000 : null;
    switch (verb) {
      case 'create': {
        const numbers = { maxRetries: MAX_RETRIES, timeoutSeconds: WINDOW_MS / 1_000 };
        const request = createJobRequest.parse({ name: 'work', ...numbers, unique: jobs > 1 ? { key: 'one' } : null });
        return { verb: 'createKeyed', label: '', space, request, idempotencyKey: `${job}` };
      }
      case 'keepalive':
        return { verb: 'heartbeat', ...ofWorker, beat: { kind: verb } };
      case 'ack':
        return { verb, ...ofWorker };
      case 'complete':
        return { verb, ...ofWorker, result: null };
      case 'fail':
        return { verb, ...ofWorker, error: 'no', retryable: true, retryAfterSeconds: delaySeconds };
      case 'release':
        return { verb, ...ofWorker, reason: null, delaySeconds };
      case 'requeue':
        return { verb, ...of, delaySeconds };
      case 'kill':
        return { verb, ...of, reason: null };
      case 'claim':
      case 'delete':
        return { verb, ...of };
      default:
        return { verb: verb === 'due' ? 'promote' : 'expire', partition: partitionOf(space) };
    }
  }

  /** Read what the store has of a state of the machine. */
  private async stored(jobs: number): Promise<object> {
    const { redis, keys } = this.store;
    const lives = Array.from({ length: jobs }, async (_, job) => {
      const [record, timeouts] = await redis.hmget(
        keys.job(this.ids[job] ?? newJobId(this.space)),
        'state',
        'deliveryTimeouts',
      );
      if (!record) return null;
      const [status, , attempt, returns] = record.split(' ');
      return { status, attempt: Number(attempt), returns: Number(returns), timeouts: Number(timeouts ?? 0) };
    });
    const [holder] = await redis.hvals(keys.unique(this.space));
    return { jobs: await Promise.all(lives), holder: holder ? this.ids.indexOf(holder) : null };
  }
}

/** Return what the store has of a state: without numbers of creates, and tokens, which the replies show. */
function storedOf({ jobs, holder }: State): object {
  const shown = ({ status, attempt, returns, timeouts }: Life) => ({ status, attempt, returns, timeouts });
  return { jobs: jobs.map((life) => life && shown(life)), holder: jobs.length > 1 ? holder : null };
}
