import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '../../test/support/kill-on-exit.js';
import type { Call } from '../checker/history.js';
import { deliveriesOf, isFenced } from '../rules/attempts.js';
import { type Evidence, storedCases } from '../rules/rule.js';
import { isTimeOut } from '../rules/time-outs.js';
import { type Checked, type Result, runTrial, type Trial } from './trial.js';
import type { Order } from './worker.js';

// Worker processes are stopped for longer than the windows of their jobs, and resumed. They do not know that other workers have
// their jobs by then, and go on calling.

const STOPPED = 4; // Processes that are stopped again and again; one more is not, and gets the lost jobs.
const JOBS = 25; // Of each of them at once.
const WORKS_MS = 1_200; // How long a process works and stands still, at most; it stands still for at least two windows.
const STANDS_MS = 2_000;
const LEAST_MS = 200;

/** Stop and resume workers until enough jobs are lost. @returns the exit code */
export const run = (args: string[]): Promise<number> =>
  runTrial(args, {
    option: 'times',
    byDefault: 1_000,
    env: { DELIVERY_TIMEOUT_SECONDS: '1' },
    act: stopAndResume,
    report: resultOf,
  });

async function stopAndResume(trial: Trial): Promise<void> {
  const { installation, random, wanted, isLate, history } = trial;
  const lost = new Set<string>(); // An estimate. The histories show at the end which jobs were lost.
  const note = (call: Call) => {
    history.add(call);
    if (call.outcome === 'refused' && call.token !== null) lost.add(`${call.jobId} ${call.token}`);
  };
  const service = { apis: installation.apis.map(({ name, url }) => ({ name, url })), key: installation.key };
  const order = (name: string, jobs: number, creates: boolean): Order => {
    return { ...service, name, seed: random.below(1_000_000), jobs, creates };
  };
  const steady = await startWorker(order('steady', 2 * JOBS, false), note);
  const workers = await Promise.all(
    Array.from({ length: STOPPED }, (_, i) => startWorker(order(`stopped-${i + 1}`, JOBS, true), note)),
  );
  const isDone = () => lost.size >= wanted + wanted / 10 || isLate();
  async function disturb({ child }: WorkerProcess): Promise<void> {
    while (!isDone()) {
      await delay(LEAST_MS + random.below(WORKS_MS));
      child.kill('SIGSTOP');
      await delay(STANDS_MS + random.below(WORKS_MS));
      child.kill('SIGCONT');
    }
  }
  await Promise.all(workers.map(disturb));
  await Promise.all([...workers, steady].map(({ end }) => end()));
}

interface WorkerProcess {
  child: ChildProcess;
  /** Let it finish its jobs, and wait for its end. */
  end(): Promise<unknown>;
}

async function startWorker(order: Order, note: (call: Call) => void): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('./worker-process.mjs', import.meta.url)));
  killOnExit(child);
  const exit = once(child, 'exit');
  await once(child, 'message');
  child.on('message', (message) => typeof message === 'object' && note(message as Call));
  child.send(order);
  return {
    child,
    end() {
      child.send('end');
      return exit;
    },
  };
}

/** Count the calls of workers after they had lost their jobs, by their responses. */
function resultOf({ evidence, violations, wanted }: Checked): Result {
  const stale = staleCalls(evidence);
  const wrong = new Set(violations.flatMap(({ lines = [] }) => lines));
  const ofOp = (op: string) => stale.calls.filter((call) => op === 'all' || call.op === op);
  const ops = ['ack', 'progress', 'checkpoint', 'event', 'keepalive', 'complete', 'fail', 'release', 'all'];
  const rows = ops.map((op) => {
    const all = ofOp(op);
    const count = (code: string | null) =>
      all.filter((call) => call.outcome !== 'unknown' && call.code === code).length;
    const counts = [null, 'DELIVERY_LOST', 'JOB_NOT_RUNNING', 'JOB_NOT_DELIVERED'].map(count);
    return [op, all.length, ...counts, all.filter(({ line }) => wrong.has(line)).length];
  });
  const head = [
    'call',
    `after one of ${stale.losses} losses`,
    '200',
    'DELIVERY_LOST',
    'JOB_NOT_RUNNING',
    'JOB_NOT_DELIVERED',
    'wrong',
  ];
  const faults = stale.losses >= wanted ? [] : [`only ${stale.losses} jobs were lost`];
  return { rows: [head, ...rows], faults };
}

/** Find the calls of workers whose window had ended, and count the jobs that they had lost. */
function staleCalls(evidence: Evidence): { calls: Call[]; losses: number } {
  const all = storedCases(evidence).flatMap(({ job, calls }) =>
    deliveriesOf(job).flatMap(({ token, until }) => {
      const end = job.events[until];
      if (end === undefined || !(end.type === 'delivery_timeout' || isTimeOut(end))) return [];
      const at = Date.parse(end.createdAt);
      const after = calls.filter((call) => isFenced(call) && call.token === token && call.sentAt > at);
      return after.length === 0 ? [] : [after];
    }),
  );
  return { calls: all.flat(), losses: all.length };
}
