import { isDeepStrictEqual } from 'node:util';
import type { JobWithEvents } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import { isTrimmed, replay } from '../replay.js';
import { type ModelMessage, momentAt, newWorld, type World, type WorldSettings } from '../world.js';
import { drainingStep, EPILOGUE, everyRead, faultsOf } from './audit.js';
import type { Call } from './calls.js';
import { type CallResult, worldsAfter, worldsThatAgree } from './candidates.js';
import { Disagreement, inspected } from './disagreement.js';
import { checkUnique, Ledger } from './ledger.js';
import { responseOf } from './outcome.js';
import { IssuedIds, type Step } from './step.js';
import type { TestStore } from './test-store.js';
import { SPACES } from './values.js';

/** The time at which every sequence begins. */
const BEGINNING = Date.UTC(2027, 0, 1);

/** Concurrent reads. The store bounds how long a read waits for others, and the machine may be slow. */
const READS_AT_ONCE = 8;

/** List the calls of two schedulers in each partition when they notice a step of the clock. */
function callsThatNotice(stepMs: number, lookedAt: number): Call[] {
  const partitions = [...new Set(SPACES.map(partitionOf))];
  const notice = (partition: string): Call =>
    stepMs > 0 ? { verb: 'markStep', partition, lookedAt } : { verb: 'bringBack', partition };
  return [...partitions, ...partitions].map(notice);
}

/** How far a sequence has run. */
export interface Position {
  world: World;
  issued: IssuedIds;
  /** Number of the next step, from 1. */
  at: number;
  /** Results of the calls of the step before. */
  results: readonly CallResult[];
}

export interface Rules {
  settings: Omit<WorldSettings, 'keyPrefix'>;
  /** See TestStores.open. */
  isGrouped: boolean;
  /** The next step; null after the last. */
  next(position: Position): Step | null;
  /** Number of steps after which everything is read. */
  auditEvery: number;
}

/** Run one sequence on a store and on the model, and compare them. */
export class SequenceRun {
  readonly steps: Step[] = [];
  /** Calls that were compared, including those that read everything. */
  calls = 0;
  private readonly issued = new IssuedIds();
  private readonly ledger = new Ledger();
  /** Possible worlds: more than one after concurrent calls, until a later response excludes some. */
  private worlds: World[];

  constructor(
    private readonly testStore: TestStore,
    private readonly rules: Rules,
  ) {
    this.worlds = [{ ...newWorld({ ...rules.settings, keyPrefix: '' }, BEGINNING), ...momentAt(BEGINNING) }];
  }

  /** @throws Disagreement at the first difference between store and model; any other error of the store */
  async run(): Promise<void> {
    const { issued, rules } = this;
    await this.testStore.setClock(BEGINNING);
    let results: readonly CallResult[] = [];
    for (let at = 1; ; at++) {
      const step = rules.next({ world: this.world, issued, at, results });
      if (step === null) break;
      this.steps.push(step);
      results = await this.take(step);
      if (at % rules.auditEvery === 0) await this.audit();
    }
    await this.audit();
    await this.checkWithFsck();
    await this.end();
  }

  /** Run the epilogue, whose steps are not printed in a failure. */
  private async end(): Promise<void> {
    try {
      for (const step of EPILOGUE) await this.take(step);
      const next = () => drainingStep(this.world, this.issued);
      for (let step = next(); step !== null; step = next()) await this.take(step);
      const messages = await this.compareMessages();
      if (this.isSteady) this.ledger.check(messages);
    } catch (error) {
      if (!(error instanceof Disagreement)) throw error;
      throw new Disagreement(`after every window has closed, and workers have completed the rest:\n${error.message}`);
    }
  }

  /** Whether the clock has only gone forward, and never stepped. Otherwise, jobs of an empty space may get an order again. */
  private get isSteady(): boolean {
    return !this.steps.some((step) => 'stepMs' in step || ('passMs' in step && step.passMs < 0));
  }

  private get world(): World {
    return this.worlds[0] as World;
  }

  private async take(step: Step): Promise<readonly CallResult[]> {
    if ('calls' in step) return this.takeCalls(step.calls);
    if ('restart' in step) {
      await this.testStore.restart(step.restart);
    } else if ('passMs' in step) {
      await this.moveClock(step.passMs);
    } else {
      const lookedAt = this.world.now;
      await this.moveClock(step.stepMs);
      for (const call of callsThatNotice(step.stepMs, lookedAt)) await this.takeCalls([call]);
    }
    return [];
  }

  private async takeCalls(calls: readonly Call[]): Promise<readonly CallResult[]> {
    const spaces = this.world.last.size;
    const results = await this.callStore(calls.map((call) => this.issued.resolved(call)));
    for (const { call, response } of results) if ('value' in response) this.issued.note(call, response.value);
    this.worlds = worldsAfter(this.worlds, results);
    if (this.isSteady) this.ledger.note(results);
    checkUnique(this.world);
    // A space without jobs has forgotten their orders, which would come again on a clock that stands still.
    if (this.world.last.size < spaces) await this.moveClock(1);
    return results;
  }

  private async moveClock(byMs: number): Promise<void> {
    for (const world of this.worlds) Object.assign(world, momentAt(world.now + byMs));
    await this.testStore.setClock(this.world.now);
  }

  /** Call the store on several connections, without waiting for a response before the next call. */
  private callStore(calls: readonly Call[]): Promise<CallResult[]> {
    const { stores } = this.testStore;
    this.calls += calls.length;
    const responses = calls.map(async (call, i) => ({
      call,
      response: await responseOf(stores[i % stores.length] ?? stores[0], call),
    }));
    return Promise.all(responses);
  }

  /** Read everything, in any order, because reads change nothing. */
  private async audit(): Promise<void> {
    const reads = everyRead(this.world);
    for (let i = 0; i < reads.length; i += READS_AT_ONCE) {
      for (const result of await this.callStore(reads.slice(i, i + READS_AT_ONCE))) {
        this.worlds = worldsThatAgree(this.worlds, result);
        this.replay(result);
      }
    }
  }

  /** Replay the history of a job that was read: its events must lead to the same record. */
  private replay({ call, response }: CallResult): void {
    if (call.verb !== 'get' || call.range !== undefined || !('value' in response) || !this.isSteady) return;
    const job = response.value as JobWithEvents;
    if (isTrimmed(job, this.rules.settings)) return;
    // Outcomes of callbacks are drawn regardless of how many attempts there were. A requeue may follow them.
    const events = job.events
      .filter(({ type }) => !type.startsWith('callback'))
      .map((event, i) => ({ ...event, id: `${job.id}.${i + 1}` }));
    const says = replay({ ...job, events }, this.rules.settings);
    if (says !== null) throw new Disagreement(`the history of ${call.job}, replayed: ${says}`);
  }

  private async checkWithFsck(): Promise<void> {
    const faults = await faultsOf(this.testStore.stores[0]);
    if (faults.length > 0) throw new Disagreement(`fsck finds\n${faults.join('\n')}`);
  }

  private async compareMessages(): Promise<Map<string, ModelMessage[]>> {
    const published = await this.testStore.published();
    this.worlds = this.worlds.filter(({ messages }) => isDeepStrictEqual(messages, published));
    if (this.worlds.length > 0) return published;
    throw new Disagreement(`the store published other messages than the model:\n${inspected(published)}`);
  }
}
