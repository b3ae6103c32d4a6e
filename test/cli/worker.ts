import type { JobWithEvents } from '@yardmaster/protocol';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { asAdmin } from './logs.js';
import { type ProcessRun, yardmaster } from './yardmaster.js';

/** Options of a test's worker. */
interface WorkerOptions {
  spaceId: string;
  /** Shell script that is run for each job. Default: the name of the job is the script. */
  script?: string;
  /** More options of `work`. */
  options?: string[];
  env?: Record<string, string>;
}

/** Start `yardmaster work` as a process with the admin key and a shell script as its program. */
export function startWorker(at: { url: string }, { spaceId, script, options = [], env }: WorkerOptions): ProcessRun {
  const program = ['--exec', '/bin/sh', '--', '-c', script ?? 'eval "$YARDMASTER_JOB_NAME"'];
  return yardmaster(['work', '--space', spaceId, ...options, ...program], { ...asAdmin(at), ...env });
}

/** Get a job with its history. */
export async function read(service: TestService, id: string): Promise<JobWithEvents> {
  const { status, body } = await service.call('GET', `/jobs/${id}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** Wait until a job has this status, and return it. */
export async function whenIn(service: TestService, status: string, id: string): Promise<JobWithEvents> {
  await until(async () => (await read(service, id)).status === status);
  return read(service, id);
}

/** Return the types of the events of a job. */
export const historyOf = ({ events }: JobWithEvents) => events.map(({ type }) => type);

/** Send a signal to the CLI. */
export const signal = ({ child }: ProcessRun, name: NodeJS.Signals) => process.kill(child.pid as number, name);

/** A program that shows its process ID, and completes its job with 1 on SIGUSR1. */
export const UNTIL_USR1 = `trap 'echo 1; exit 0' USR1; echo "pid $$" >&2; while :; do sleep 0.05; done`;

/** Wait until a program of the worker shows its process ID, and return it. */
export async function pidOf(worker: ProcessRun): Promise<number> {
  await until(() => /pid \d+/.test(worker.err()));
  return Number(/pid (\d+)/.exec(worker.err())?.[1]);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
