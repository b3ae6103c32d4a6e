import { afterEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { asAdmin } from './logs.js';
import { isAlive, pidOf, read, signal, startWorker } from './worker.js';
import { endAll, hasTerminals, type ProcessRun, yardmasterOnTerminal } from './yardmaster.js';

const service = withService();
afterEach(endAll);

/** A program that survives the loss of its terminal and outputs, with a child process that does the same. */
const LOOP = 'while :; do echo working >&2; sleep 0.1; done';
const PROGRAM = `trap '' HUP PIPE; (${LOOP}) & echo "child $! pid $$" >&2; ${LOOP}`;

/** A module that throws an error in the event loop at SIGUSR2. */
const BUG = `data:text/javascript,${encodeURIComponent('process.on("SIGUSR2", () => { throw new Error("a bug"); })')}`;

const send =
  (...names: NodeJS.Signals[]) =>
  async (worker: ProcessRun) => {
    for (const name of names) signal(worker, name);
  };

/** What ends a worker whose program keeps running, and the exit code. */
const ENDS: [how: string, code: number | null, end: (worker: ProcessRun) => Promise<unknown>][] = [
  ['SIGTERM', 0, send('SIGTERM')],
  ['SIGINT', 0, send('SIGINT')],
  ['SIGHUP', 0, send('SIGHUP')],
  ['SIGQUIT', 131, send('SIGQUIT')],
  ['two SIGTERM', 143, (worker) => twice(worker, 'SIGTERM')],
  ['two SIGINT', 130, (worker) => twice(worker, 'SIGINT')],
  ['two SIGHUP', 0, (worker) => twice(worker, 'SIGHUP')],
  ['the end of its standard output', 141, async (worker) => worker.child.stdout?.destroy()],
  ['the end of its standard error', 141, async (worker) => worker.child.stderr?.destroy()],
  ['an unexpected error', 70, send('SIGUSR2')],
];

async function twice(worker: ProcessRun, name: NodeJS.Signals): Promise<void> {
  signal(worker, name);
  await until(() => worker.err().includes('stopping: waiting for 1 running'));
  signal(worker, name);
}

let spaces = 0;

/** Start a worker with a running program. */
async function startProgram({ drain = '0' } = {}) {
  const spaceId = `work-ends-${spaces++}`;
  const { id } = await createJob(service, spaceId, { maxRetries: 0 });
  const options = ['--drain', drain, '--concurrency', '2'];
  const worker = startWorker(service, { spaceId, script: PROGRAM, options, env: { NODE_OPTIONS: `--import=${BUG}` } });
  const pid = await pidOf(worker);
  const child = Number(/child (\d+)/.exec(worker.err())?.[1]);
  return { worker, id, spaceId, pids: [pid, child] };
}

it.each(ENDS)(
  'after %s, work exits with %i, none of its programs is running and its job is pending',
  async (_, code, end) => {
    // Only the second signal must end a program that the first one lets drain.
    const { worker, id, spaceId, pids } = await startProgram(code === 143 || code === 130 ? { drain: '60' } : {});
    await end(worker);
    // A closed output is noticed by the next write: here the start of another job.
    if (code === 141) await createJob(service, spaceId);
    expect(await worker.exit()).toBe(code);
    await until(() => pids.every((pid) => !isAlive(pid)));
    expect(await read(service, id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
  },
);

it('after work is killed with SIGKILL, none of its programs is running', async () => {
  const { worker, pids } = await startProgram();
  signal(worker, 'SIGKILL');
  await worker.exit();
  await until(() => pids.every((pid) => !isAlive(pid)));
});

it('after its key is revoked, work exits with 1, and none of its programs is running', async () => {
  const { key, id: keyId } = await service.key(['jobs:worker']);
  const spaceId = 'work-ends-revoked';
  await createJob(service, spaceId, { timeoutSeconds: 3 });
  const options = ['--drain', '0', '--concurrency', '2'];
  const worker = startWorker(service, { spaceId, script: PROGRAM, options, env: { YARDMASTER_API_KEY: key } });
  const pid = await pidOf(worker);
  expect((await service.call('DELETE', `/keys/${keyId}`)).status).toBe(200);
  expect(await worker.exit()).toBe(1);
  expect(isAlive(pid)).toBe(false);
});

(hasTerminals ? it : it.skip)('after its terminal is closed, none of the programs of work is alive', async () => {
  const { id } = await createJob(service, 'work-ends-terminal', { maxRetries: 0 });
  const script = `trap '' HUP; echo "pid $$" >&2; while :; do sleep 0.05; done`;
  const args = `work --space work-ends-terminal --drain 0 --exec /bin/sh -- -c '${script}'`;
  const run = yardmasterOnTerminal(args, asAdmin(service));
  await until(() => /pid \d+/.test(run.out()));
  const pid = Number(/pid (\d+)/.exec(run.out())?.[1]);
  run.child.kill('SIGKILL'); // `script` holds the terminal.
  await until(() => !isAlive(pid));
  await until(async () => (await read(service, id)).status === 'pending');
});
