import type { Logger } from '@yardmaster/runtime';
import type { ServerContext } from '@yardmaster/server';
import {
  type ClockReading,
  createClockWatch,
  type Due,
  expireDue,
  findDue,
  fireSchedules,
  nextPartition,
  promoteDue,
  recountBytes,
  requeueResumed,
  stepOperation,
} from '@yardmaster/store';
import pLimit from 'p-limit';
import { sweepMetrics } from '../metrics.js';
import { doSlowWork, type SlowStep } from './slow-work.js';

/** Duration after which a sweep looks for new due deadlines, milliseconds. */
const LOOK_AGAIN_MS = 500;

/**
 * Partitions processed concurrently. If the steps of a sweep ran sequentially, their round trips would add up, and the last
 * steps would be late with a slow or distant Redis. If all ran at once, they would keep Redis busy for the whole time.
 */
const PARTITIONS_AT_ONCE = 4;

/** Readings of Redis's clock, by partition. */
type Clocks = ReadonlyMap<string, ClockReading>;

interface Pass {
  /** Clock readings. Later deadlines wait for the next readings. */
  clocks: Clocks;
  /** List that receives errors. */
  faults: unknown[];
  /** `performance.now()` after which the pass ends at the next error. */
  until: number;
}

/** Processes the deadlines of jobs, whenever `runOnce` is called; see ticks.ts. */
export interface Sweeper {
  /**
   * Process everything that is due. A call during a sweep waits for that sweep to end.
   *
   * @throws the first error, which has already been logged; other partitions were still swept
   */
  runOnce(): Promise<void>;
  /** Set the function to call with each partition in which a sweep finds due callbacks. */
  onCallbacksPending(wake: (partition: string) => void): void;
  /** Return the milliseconds since a sweep last made progress. */
  idleMs(): number;
  /** Return whether the sweeper processes deadlines yet: it must first have watched Redis's clock for long enough. */
  isReady(): boolean;
}

/**
 * Create the sweeper. A sweep with a long backlog ends early when the process is shutting down.
 *
 * @param settleMs see createClockWatch
 */
export function createSweeper(
  { store, stopping, metrics }: Pick<ServerContext, 'store' | 'stopping' | 'metrics'>,
  log: Logger,
  settleMs?: number,
): Sweeper {
  let wake: (partition: string) => void = () => undefined;
  let progressedAt = performance.now();
  let sweeping: Promise<void> | null = null;
  let isFailing = false;
  let looks = 0;
  let isReady = false;
  const limit = pLimit(PARTITIONS_AT_ONCE);
  const idleMs = () => performance.now() - progressedAt;
  const noteProgress = () => {
    progressedAt = performance.now();
  };
  const counts = sweepMetrics(metrics, idleMs);
  const clockWatch = createClockWatch(store, settleMs);

  /** Handle a step of Redis's clock, if there was one, and return the partitions whose deadlines may be processed. */
  async function followClocks(clocks: Clocks, faults: unknown[]): Promise<ReadonlySet<string>> {
    const { settled, steppedMs, broughtBack, ...followed } = await clockWatch.follow(clocks);
    faults.push(...followed.faults);
    isReady = settled.size > 0;
    if (steppedMs !== 0) {
      counts.stepped(steppedMs > 0 ? 'forward' : 'back');
      log.warn({ steppedMs, broughtBack }, 'the clock of redis has stepped');
    } else if (broughtBack > 0) {
      log.warn({ broughtBack }, 'the clock of redis has stepped back while no scheduler was watching it');
    }
    return settled;
  }

  /** Do a step of a task. @returns whether more is due there */
  async function stepOf({ partition, process, done }: Task, dueBefore: number): Promise<boolean> {
    const { isMore, broken, ...counts } = await process(store, partition, dueBefore);
    progressedAt = performance.now();
    if (broken.length > 0)
      log.error({ partition, broken }, 'jobs or schedules have records that are broken or from a newer release');
    log.debug({ partition, ...counts }, done);
    return isMore;
  }

  /**
   * Do a step of each task, and return the tasks with more due. An error in one partition doesn't delay the others, except
   * after `until`: then an error ends the pass, because it would take just as long in the remaining partitions, which the
   * next look skips.
   */
  async function runPass(tasks: readonly Task[], { clocks, faults, until }: Pass): Promise<Task[]> {
    const unfinished: Task[] = [];
    let isOver = false;
    const run = async (task: Task) => {
      if (isOver) return;
      try {
        if (await stepOf(task, clocks.get(task.partition)?.redisMs ?? 0)) unfinished.push(task);
      } catch (error) {
        faults.push(error);
        isOver ||= performance.now() >= until;
      }
    };
    await Promise.all(tasks.map((task) => limit(run, task)));
    return unfinished;
  }

  /** Do a step of the next operation in these partitions. */
  async function stepNextOperation(partitions: readonly string[]): Promise<boolean> {
    const partition = await nextPartition(store, partitions);
    if (partition === null) return false;
    const step = await stepOperation(store, partition);
    if (step?.isDone) log.info({ operationId: step.operationId }, 'operation done');
    return true;
  }

  const slowStepsOf = ({ operations, recounts }: Due): SlowStep[] => [
    ...(operations.length > 0 ? [() => stepNextOperation(operations)] : []),
    ...recounts.map((partition) => () => recountBytes(store, partition)),
  ];

  async function sweep(): Promise<void> {
    const faults: unknown[] = [];
    let slow: SlowStep[] = [];
    for (let left: Task[] | null = null; left === null || left.length > 0; ) {
      if (stopping.aborted) return;
      const due = await findDue(store);
      due.callbacks.forEach(wake);
      slow = slowStepsOf(due);
      faults.push(...due.faults);
      const settled = await followClocks(due.clocks, faults);
      progressedAt = performance.now();
      // Work pass by pass, so that a long backlog in one partition never delays another.
      const until = progressedAt + LOOK_AGAIN_MS;
      const all = tasksOf(due, settled);
      // Start with a different task each time: an error ends a pass, and must not always delay the same tasks.
      const first = looks++ % Math.max(all.length, 1);
      left = [...all.slice(first), ...all.slice(0, first)];
      while (left.length > 0 && performance.now() < until) {
        left = await runPass(left, { clocks: due.clocks, faults, until });
      }
      if (faults.length > 0) throw faults[0];
    }
    // Due work comes first; slow work continues in the next sweep.
    await doSlowWork(slow, { stopping, onStep: noteProgress });
  }

  async function sweepAndLog(): Promise<void> {
    try {
      await sweep();
      if (isFailing) log.info('sweeps resumed');
      isFailing = false;
    } catch (err) {
      // Log an outage once, not at each attempt.
      if (!isFailing) log.warn({ err }, 'sweep failed');
      isFailing = true;
      counts.failed();
      throw err;
    } finally {
      counts.swept();
    }
  }

  return {
    runOnce() {
      sweeping ??= sweepAndLog().finally(() => {
        sweeping = null;
      });
      return sweeping;
    },
    onCallbacksPending(listener) {
      wake = listener;
    },
    idleMs,
    isReady: () => isReady,
  };
}

/** A kind of step in a partition. */
interface Work {
  process: typeof expireDue | typeof promoteDue | typeof fireSchedules | typeof requeueResumed;
  /** Log message after the step. */
  done: string;
}

const EXPIRE: Work = { process: expireDue, done: 'deadlines expired' };
const PROMOTE: Work = { process: promoteDue, done: 'waiting jobs promoted' };
const FIRE: Work = { process: fireSchedules, done: 'schedules run' };
const RESUME: Work = { process: requeueResumed, done: 'resumed jobs requeued' };

export type Task = Work & { partition: string };

/**
 * Return the tasks that are due, except callbacks, operations and recounts.
 *
 * @param settled partitions whose deadlines may be processed. Pauses don't depend on the clock
 */
export function tasksOf({ deadlines, promotions, schedules, pauses }: Due, settled: ReadonlySet<string>): Task[] {
  const tasks = (partitions: string[], work: Work): Task[] => partitions.map((partition) => ({ partition, ...work }));
  const timed = [...tasks(deadlines, EXPIRE), ...tasks(promotions, PROMOTE), ...tasks(schedules, FIRE)];
  return [...timed.filter(({ partition }) => settled.has(partition)), ...tasks(pauses, RESUME)];
}
