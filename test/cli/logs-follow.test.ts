import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, entriesOf, infos, isFollowed, logs, numbered, printed } from './logs.js';
import { work } from './worker.js';
import { endAll, type Run } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

/** Follow a job, and wait until it is told of what happens to it. */
async function follow(jobId: string, ...flags: string[]): Promise<Run> {
  const run = logs(service, [jobId, '--follow', ...flags]);
  await isFollowed(service, jobId);
  return run;
}

it('prints what there is, then each entry as it comes, until the job ends', async () => {
  const id = await jobIn(service, 'running', 'follow');
  await append(service, id, numbered(2));
  const run = await follow(id);
  await run.shows('entry 2\n');
  await append(service, id, numbered(1, 3));
  await run.shows('entry 3\n');
  await append(service, id, numbered(2, 4));
  await run.shows('entry 5\n');
  await work(service, id, 'complete');
  expect([await run.exit(), run.err()]).toEqual([0, '']);
  expect(printed(run)).toEqual(infos(numbered(5)));
});

it('follows a job that waits yet, over its first attempt and the next', async () => {
  const { id } = await createJob(service, 'retry', { maxRetries: 1 });
  const run = await follow(id);
  for (const attempt of ['first', 'second']) {
    await work(service, id, 'claim');
    await work(service, id, 'ack');
    await append(service, id, [`${attempt} attempt`, { message: 'oh no', level: 'error' }]);
    await work(service, id, 'fail', { error: 'no' });
  }
  expect(await run.exit()).toBe(3);
  expect(printed(run)).toEqual(['info  first attempt', 'error oh no', 'info  second attempt', 'error oh no']);
});

it('prints every entry once and in order, however many append at a time', async () => {
  const id = await jobIn(service, 'running', 'writers');
  const run = await follow(id, '--json');
  const write = async (name: string) => {
    for (let i = 0; i < 40; i++) await append(service, id, Array(7).fill(name));
  };
  await Promise.all(['a', 'b', 'c'].map(write));
  await work(service, id, 'complete');
  expect(await run.exit()).toBe(0);
  const entries = entriesOf(run);
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 840 }, (_, i) => i + 1));
  for (const name of 'abc') expect(entries.filter(({ message }) => message === name)).toHaveLength(280);
});

describe('a job that ends', () => {
  const ENDS = [
    ['completed', 'complete', 0],
    ['dead', 'fail', 3],
    ['killed', 'kill', 4],
  ] as const;

  it.each(ENDS)('%s: prints what was appended right before, and exits as watch does', async (_, verb, code) => {
    const id = await jobIn(service, 'running', 'ends', { maxRetries: 0 });
    const run = await follow(id);
    await append(service, id, numbered(1_000));
    await append(service, id, numbered(700, 1_001));
    await work(service, id, verb, verb === 'fail' ? { error: 'no' } : {});
    expect([await run.exit(), run.err()]).toEqual([code, '']);
    expect(printed(run)).toEqual(infos(numbered(1_700)));
  });

  it.each(ENDS)('%s already: prints its logs and exits so', async (status, _, code) => {
    const id = await jobIn(service, status, 'ended');
    await append(service, id, numbered(3));
    const run = logs(service, [id, '--follow']);
    expect([await run.exit(), run.err()]).toEqual([code, '']);
    expect(printed(run)).toEqual(infos(numbered(3)));
  });
});

describe('with fewer than all', () => {
  it.each([
    [0, []],
    [2, numbered(2, 9)],
    [50, numbered(10)],
  ])('--tail %i begins with the newest, and then prints all', async (count, before) => {
    const id = await jobIn(service, 'running', 'tail');
    await append(service, id, numbered(10));
    const run = await follow(id, '--tail', `${count}`);
    await append(service, id, numbered(600, 11));
    await work(service, id, 'complete');
    expect(await run.exit()).toBe(0);
    expect(printed(run)).toEqual(infos([...before, ...numbered(600, 11)]));
  });

  it.each([
    [
      ['--level', 'warn'],
      ['old 1', 'old 2', 'new 1', 'new 2'],
    ],
    [
      ['--level', 'warn', '--tail', '1'],
      ['old 2', 'new 1', 'new 2'],
    ],
    [
      ['--level', 'warn', '--tail', '0'],
      ['new 1', 'new 2'],
    ],
    [['--grep', 'W 1', '--tail', '3'], ['new 1']],
    [['--level', 'error', '--tail', '3'], []],
  ])('%j leaves nothing out that it lets through, and repeats nothing', async (flags, messages) => {
    const warn = (message: string) => ({ level: 'warn', message });
    const id = await jobIn(service, 'running', 'level');
    await append(service, id, [...numbered(3), warn('old 1'), warn('old 2'), ...numbered(3)]);
    const run = await follow(id, '--json', ...flags);
    for (const batch of [numbered(2), [warn('new 1'), 'x'], ['y'], [warn('new 2')], ['z']]) {
      await append(service, id, batch);
    }
    await work(service, id, 'complete');
    expect(await run.exit()).toBe(0);
    expect(entriesOf(run).map(({ message }) => message)).toEqual(messages);
  });
});
