import { isDeepStrictEqual } from 'node:util';
import type { JobWithEvents } from '@yardmaster/protocol';
import { partitionOf, type StoreSettings } from '@yardmaster/store';
import { isCut, replay } from '../replay.js';
import { newWorld, type World } from '../world.js';
import type { Arena } from './arena.js';
import { EPILOGUE, everyRead, faultsOf } from './audit.js';
import type { Call } from './calls.js';
import { agreeing, type Told, worldsAfter } from './candidates.js';
import { Disagreement, shown } from './disagreement.js';
import { responseOf } from './outcome.js';
import { GivenOut, type Step } from './step.js';
import { SPACES } from './values.js';

/** When every sequence begins. */
const BEGINNING = Date.UTC(2027, 0, 1);

/** Not more, since the store lets long reads wait for one another for a while only, and the machine may be slow. */
const READS_AT_ONCE = 8;

/** What two schedulers do in each partition, one after the other, when they notice a step of the clock. */
function noticing(stepMs: number, lookedAt: number): Call[] {
  const partitions = [...new Set(SPACES.map(partitionOf))];
  const notice = (partition: string): Call =>
    stepMs > 0 ? { verb: 'markStep', partition, lookedAt } : { verb: 'bringBack', partition };
  return [...partitions, ...partitions].map(notice);
}

/** Where a sequence stands. */
export interface Position {
  world: World;
  given: GivenOut;
  /** Number of the step that is next, from 1. */
  at: number;
}

export interface Rules {
  settings: Omit<StoreSettings, 'keyPrefix'>;
  /** The next step; null after the last. */
  next(position: Position): Step | null;
  /** Steps between two times at which everything is read. */
  auditEvery: number;
}

/** One sequence, on a store and on the model. */
export class Game {
  readonly steps: Step[] = [];
  /** Calls that were compared, those that read everything included. */
  calls = 0;
  private readonly given = new GivenOut();
  /** Worlds that there may be: more than one after calls at once, until a later answer tells. */
  private worlds: World[];

  constructor(
    private readonly arena: Arena,
    private readonly rules: Rules,
  ) {
    this.worlds = [newWorld({ ...rules.settings, keyPrefix: '' }, BEGINNING)];
  }

  /** @throws Disagreement at the first thing that store and model do not agree on; what else the store threw */
  async run(): Promise<void> {
    const { given, rules } = this;
    await this.arena.setClock(BEGINNING);
    for (let at = 1; ; at++) {
      const step = rules.next({ world: this.world, given, at });
      if (step === null) break;
      this.steps.push(step);
      await this.take(step);
      if (at % rules.auditEvery === 0) await this.audit();
    }
    await this.audit();
    await this.checkWhole();
    await this.end();
  }

  /** Nothing is printed of these steps but that they were taken. */
  private async end(): Promise<void> {
    try {
      for (const step of EPILOGUE) await this.take(step);
      await this.audit();
      await this.compareNews();
    } catch (error) {
      if (!(error instanceof Disagreement)) throw error;
      throw new Disagreement(`then, once all is polled and every window has closed,\n${error.message}`);
    }
  }

  private get world(): World {
    return this.worlds[0] as World;
  }

  private async take(step: Step): Promise<void> {
    if ('calls' in step) {
      const told = await this.ask(step.calls.map((call) => this.given.resolved(call)));
      for (const { call, response } of told) if ('value' in response) this.given.note(call, response.value);
      this.worlds = worldsAfter(this.worlds, told);
    } else if ('passMs' in step) {
      await this.moveClock(step.passMs);
    } else {
      const lookedAt = this.world.now;
      await this.moveClock(step.stepMs);
      for (const call of noticing(step.stepMs, lookedAt)) await this.take({ calls: [call] });
    }
  }

  private async moveClock(byMs: number): Promise<void> {
    for (const world of this.worlds) world.now += byMs;
    await this.arena.setClock(this.world.now);
  }

  /** Ask the store, on several connections, without waiting for one answer before the next call. */
  private ask(calls: readonly Call[]): Promise<Told[]> {
    const { stores } = this.arena;
    this.calls += calls.length;
    const responses = calls.map(async (call, i) => ({
      call,
      response: await responseOf(stores[i % stores.length] ?? stores[0], call),
    }));
    return Promise.all(responses);
  }

  /** Read everything; in any order, since that changes nothing. */
  private async audit(): Promise<void> {
    const reads = everyRead(this.world);
    for (let i = 0; i < reads.length; i += READS_AT_ONCE) {
      for (const told of await this.ask(reads.slice(i, i + READS_AT_ONCE))) {
        this.worlds = agreeing(this.worlds, told);
        this.replay(told);
      }
    }
  }

  /** Walk the history of a job that was read: what the world was led to must be what its events lead to. */
  private replay({ call, response }: Told): void {
    const hasStepped = this.steps.some((step) => 'stepMs' in step || ('passMs' in step && step.passMs < 0));
    if (call.verb !== 'get' || !('value' in response) || hasStepped) return;
    const job = response.value as JobWithEvents;
    if (isCut(job, this.rules.settings)) return;
    // What callbacks came to is drawn without regard to how many there were.
    const events = job.events.filter(({ type }) => !type.startsWith('callback'));
    const says = replay({ ...job, events }, this.rules.settings);
    if (says !== null) throw new Disagreement(`the history of ${call.job}, replayed: ${says}`);
  }

  private async checkWhole(): Promise<void> {
    const faults = await faultsOf(this.arena.stores[0]);
    if (faults.length > 0) throw new Disagreement(`fsck finds\n${faults.join('\n')}`);
  }

  private async compareNews(): Promise<void> {
    const heard = await this.arena.heard();
    this.worlds = this.worlds.filter(({ news }) => isDeepStrictEqual(news, heard));
    if (this.worlds.length > 0) return;
    throw new Disagreement(`what was published is not what the model says:\n${shown(heard)}`);
  }
}
