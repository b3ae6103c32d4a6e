import { afterEach, expect, it } from '@jest/globals';
import { createJob, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { historyOf, isAlive, pidOf, read, signal, startWorker, UNTIL_USR1, whenIn } from './worker.js';
import { endAll } from './yardmaster.js';

const service = withService();
afterEach(endAll);

/** A program that runs until SIGTERM, and prints when it arrives. */
const UNTIL_TERM = `trap 'echo "got SIGTERM" >&2; exit 9' TERM; echo "pid $$" >&2; while :; do sleep 0.05; done`;

/** A program that only SIGKILL can end. */
const STUBBORN = `trap '' TERM; echo "pid $$" >&2; while :; do sleep 0.05; done`;

it('work ends the program of a killed job with SIGTERM, and claims the next job', async () => {
  const { id } = await createJob(service, 'work-kills');
  const worker = startWorker(service, { spaceId: 'work-kills', script: UNTIL_TERM });
  const pid = await pidOf(worker);
  await step(service, id, 'kill', { reason: 'enough' });
  await worker.shows(`${id} work lost: The job was killed`);
  expect(worker.err()).toContain('got SIGTERM');
  expect(isAlive(pid)).toBe(false);
  expect(historyOf(await read(service, id))).toEqual(['created', 'delivered', 'acked', 'killed']);

  const { id: next } = await createJob(service, 'work-kills');
  await worker.shows(`${next} work started attempt 1`);
  await step(service, next, 'kill');
  await worker.shows(`${next} work lost`);
});

it('work ends a program that ignores SIGTERM with SIGKILL', async () => {
  const { id } = await createJob(service, 'work-ignores');
  const worker = startWorker(service, { spaceId: 'work-ignores', script: STUBBORN });
  const pid = await pidOf(worker);
  await step(service, id, 'kill');
  await worker.shows(`${id} work lost`);
  expect(isAlive(pid)).toBe(false);
});

it('work ends the program of a job that another worker holds, and does not change the job', async () => {
  const { id } = await createJob(service, 'work-loses');
  // It ends after SIGTERM, but not before SIGUSR1. Until then the worker has no room to claim the job again.
  const traps = `trap 'told=1' TERM; trap 'free=1' USR1; echo "pid $$" >&2`;
  const script = `${traps}; until [ "$told$free" = 11 ]; do sleep 0.05; done; echo 1`;
  const worker = startWorker(service, { spaceId: 'work-loses', script });
  const pid = await pidOf(worker);
  // The heartbeats of the worker are refused from here on.
  await step(service, id, 'release');
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  process.kill(pid, 'SIGUSR1');
  await worker.shows(`${id} work lost: `);
  expect(await read(service, id)).toMatchObject({ status: 'running', result: null });
  await step(service, id, 'complete', { result: 'of the other worker' });
  expect(await read(service, id)).toMatchObject({ status: 'completed', result: 'of the other worker' });
});

it('work sends heartbeats for a program that reports nothing', async () => {
  const { id } = await createJob(service, 'work-silent', { timeoutSeconds: 3 });
  const worker = startWorker(service, { spaceId: 'work-silent', script: UNTIL_TERM });
  await pidOf(worker);
  const times = new Set<string>();
  await until(async () => times.add((await read(service, id)).updatedAt).size >= 3);
  expect(historyOf(await read(service, id))).toEqual(['created', 'delivered', 'acked']);
  await step(service, id, 'kill');
  await worker.shows('lost');
});

it('work lets running programs finish on SIGTERM, and claims no more jobs', async () => {
  const { id } = await createJob(service, 'work-drains');
  const worker = startWorker(service, { spaceId: 'work-drains', script: UNTIL_USR1, options: ['--drain', '600'] });
  const pid = await pidOf(worker);
  signal(worker, 'SIGTERM');
  await until(() => worker.err().includes('stopping: waiting for 1 running job'));
  const { id: next } = await createJob(service, 'work-drains');
  process.kill(pid, 'SIGUSR1');
  expect(await worker.exit()).toBe(0);
  expect(await read(service, id)).toMatchObject({ status: 'completed', result: 1 });
  expect(historyOf(await read(service, next))).toEqual(['created']);
});

it.each([
  ['ends at SIGTERM', UNTIL_TERM],
  ['ignores SIGTERM', STUBBORN],
])(
  'work releases the job of a program that is not done after --drain and %s, without using up an attempt',
  async (_, script) => {
    const { id } = await createJob(service, 'work-released', { maxRetries: 0 });
    const worker = startWorker(service, { spaceId: 'work-released', script, options: ['--drain', '0'] });
    const pid = await pidOf(worker);
    signal(worker, 'SIGTERM');
    expect(await worker.exit()).toBe(0);
    expect(isAlive(pid)).toBe(false);
    const job = await read(service, id);
    expect(job).toMatchObject({ status: 'pending', attemptNumber: 0 });
    expect(job.events.slice(3).map(({ type, data }) => [type, data])).toEqual([
      ['released', { reason: 'worker is shutting down' }],
    ]);
    await step(service, id, 'kill'); // So that the next case does not claim it.
  },
);

it('work completes the job of a program that finishes on SIGTERM', async () => {
  const { id } = await createJob(service, 'work-finishes');
  const script = `trap 'echo 3; exit 0' TERM; echo "pid $$" >&2; while :; do sleep 0.05; done`;
  const worker = startWorker(service, { spaceId: 'work-finishes', script, options: ['--drain', '0'] });
  await pidOf(worker);
  signal(worker, 'SIGTERM');
  expect(await worker.exit()).toBe(0);
  expect(await read(service, id)).toMatchObject({ status: 'completed', result: 3 });
});

it('work ends programs immediately and releases their jobs on the second signal', async () => {
  const ids = [await createJob(service, 'work-twice'), await createJob(service, 'work-twice')].map(({ id }) => id);
  const options = ['--drain', '600', '--concurrency', '2'];
  const worker = startWorker(service, { spaceId: 'work-twice', script: STUBBORN, options });
  await until(() => (worker.err().match(/pid \d+/g) ?? []).length === 2);
  signal(worker, 'SIGTERM');
  await until(() => worker.err().includes('stopping: waiting for 2 running jobs'));
  signal(worker, 'SIGTERM');
  expect(await worker.exit()).toBe(143);
  for (const id of ids) expect(await whenIn(service, 'pending', id)).toMatchObject({ attemptNumber: 0 });
});

it('work exits while idle, and its poll claims no more jobs', async () => {
  const worker = startWorker(service, { spaceId: 'work-idle', script: 'echo 1' });
  const { id } = await createJob(service, 'work-idle');
  await whenIn(service, 'completed', id);
  signal(worker, 'SIGTERM');
  expect(await worker.exit()).toBe(0);
  // The service may claim the job for the poll that just ended, and then release it.
  const { id: next } = await createJob(service, 'work-idle');
  expect(await whenIn(service, 'pending', next)).toMatchObject({ attemptNumber: 0 });
});
