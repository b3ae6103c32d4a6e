import { type Due, expireDue, promoteDue, requeueResumed } from '@yardmaster/store';

/** What a step does in a partition. */
interface Work {
  process: typeof expireDue | typeof promoteDue | typeof requeueResumed;
  /** What the log says afterwards. */
  done: string;
}

const EXPIRE: Work = { process: expireDue, done: 'deadlines expired' };
const PROMOTE: Work = { process: promoteDue, done: 'waiting jobs promoted' };
const TEND: Work = { process: requeueResumed, done: 'pauses tended' };

export type Task = Work & { partition: string };

/**
 * Return what is due, except callbacks and operations.
 *
 * @param settled partitions in which deadlines may be processed. No step of the clock makes a pause wrong
 */
export function tasksOf({ deadlines, promotions, pauses }: Due, settled: ReadonlySet<string>): Task[] {
  const tasks = (partitions: string[], work: Work): Task[] => partitions.map((partition) => ({ partition, ...work }));
  const timed = [...tasks(deadlines, EXPIRE), ...tasks(promotions, PROMOTE)];
  return [...timed.filter(({ partition }) => settled.has(partition)), ...tasks(pauses, TEND)];
}
