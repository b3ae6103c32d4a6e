import { isCluster } from '@yardmaster/redis';
import { confirmationOf, isReplicated, type SendCall, type Store, sendCalls, type VerbCall } from '@yardmaster/store';
import { Quickest } from './redis-queue.js';

/** Maximum jobs touched by the calls of one script, and characters of their arguments. A larger call gets its own script. */
const JOBS = 50;
const CHARACTERS = 256 * 1_024;

/** Every fourth script takes non-urgent calls first, so that they don't starve. */
const OTHERS_FIRST = 4;

/**
 * Scripts in flight at once: two, so that Redis runs one while we read the replies of the other, plus one for each 2 ms of
 * round-trip time, up to 20. Calls that fill a script gain nothing by waiting, so up to six scripts may be in flight while
 * a full one waits: about 15 ms of work, so that an urgent call doesn't wait long behind them.
 */
const LEAST = 2;
const MS_FOR_EACH = 2;
const MOST = 20;
const FULL = 6;

/** How long calls wait for a Redis that doesn't reply, milliseconds. Then one more script is sent before it is too late. */
const WAIT_MS = 100;

interface Waiting {
  store: Store;
  call: VerbCall;
  characters: number;
  resolve: (replies: readonly unknown[][]) => void;
  reject: (error: unknown) => void;
}

const charactersOf = ({ verbs }: VerbCall): number => {
  let sum = 0;
  for (const { parameters } of verbs) for (const one of parameters) if (typeof one === 'string') sum += one.length;
  return sum;
};

/** Verbs that no running job depends on. All others go first. */
const NOT_URGENT = /^(create|poll|claim)$/;

/**
 * Sends calls that wait at the same moment in one script, which costs Redis less than a script for each. While fewer scripts
 * are in flight than allowed, nothing waits: a lone call is sent at the end of the event loop iteration, like any command.
 */
class GroupCommit {
  readonly #store: Store;
  readonly #urgent: Waiting[] = [];
  readonly #others: Waiting[] = [];
  readonly #quickest = new Quickest();
  #waitingJobs = 0;
  #underWay = 0;
  #scripts = 0;
  #isPlanned = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  send(store: Store, call: VerbCall): Promise<readonly unknown[][]> {
    return new Promise((resolve, reject) => {
      const isUrgent = !NOT_URGENT.test((call.verbs[0] as VerbCall['verbs'][number]).verb.name);
      this.#waitingJobs += call.jobs;
      (isUrgent ? this.#urgent : this.#others).push({ store, call, characters: charactersOf(call), resolve, reject });
      if (this.#isPlanned) return;
      this.#isPlanned = true;
      setImmediate(() => {
        this.#isPlanned = false;
        this.#sendGroups();
      });
    });
  }

  get #waiting(): number {
    return this.#urgent.length + this.#others.length;
  }

  #sendGroups(): void {
    const most = Math.min(MOST, LEAST + Math.floor(this.#quickest.ms / MS_FOR_EACH));
    const mostFull = Math.max(most, FULL);
    while (this.#waiting > 0 && this.#underWay < (this.#waitingJobs < JOBS ? most : mostFull)) void this.#sendGroup();
    this.#setTimer();
  }

  #setTimer(): void {
    if (this.#waiting > 0) this.#timer ??= setTimeout(() => this.#sendOneMore(), WAIT_MS).unref();
    else this.#stopTimer();
  }

  /** Send one script beyond the limit. More than one would delay urgent calls if Redis is merely slow. */
  #sendOneMore(): void {
    this.#stopTimer();
    void this.#sendGroup();
    this.#setTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Take the calls of the next script, usually urgent ones first. */
  #takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    let jobs = 0;
    let characters = 0;
    const queues = [this.#urgent, this.#others];
    if (++this.#scripts % OTHERS_FIRST === 0) queues.reverse();
    for (const queue of queues) {
      let taken = 0;
      for (const one of queue) {
        jobs += one.call.jobs;
        characters += one.characters;
        if (group.length > 0 && (jobs > JOBS || characters > CHARACTERS)) break;
        group.push(one);
        this.#waitingJobs -= one.call.jobs;
        taken++;
      }
      queue.splice(0, taken);
      if (queue.length > 0) break;
    }
    return group;
  }

  async #sendGroup(): Promise<void> {
    const group = this.#takeGroup();
    const sentAt = performance.now();
    const others = this.#underWay++;
    try {
      const { reply, confirmed } = await sendCalls(
        this.#store,
        group.map(({ call }) => call),
      );
      const now = performance.now();
      if (others === 0) this.#quickest.reset(now - sentAt); // It didn't wait behind any other.
      this.#quickest.record(now - sentAt, now);
      for (const [i, { store, call, resolve, reject }] of group.entries()) {
        const replies = reply[i] as unknown[][];
        const confirmation = isReplicated(call) ? confirmationOf(store, confirmed) : null;
        if (confirmation === null) resolve(replies);
        else confirmation.then(() => resolve(replies), reject);
      }
    } catch (error) {
      // Never retried, because each call may have been carried out.
      for (const { reject } of group) reject(error);
    }
    this.#underWay--;
    this.#stopTimer(); // Redis replies.
    this.#sendGroups();
  }
}

/** Return a store that sends verb calls in groups. In a cluster, a group contains calls of a single partition. */
export function inGroups(store: Store): Store {
  const groups = new Map<string, GroupCommit>();
  const send: SendCall = (caller, call) => {
    const slot = isCluster(store.redis) ? call.base : '';
    const group = groups.get(slot) ?? new GroupCommit(store);
    groups.set(slot, group);
    return group.send(caller, call);
  };
  return { ...store, send };
}
