import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { work } from './worker.js';
import { endAll, yardmaster } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

const watch = (jobId: string, key: string | null = ADMIN_KEY, ...flags: string[]) =>
  yardmaster(['watch', jobId, ...flags], {
    YARDMASTER_URL: service.url,
    ...(key === null ? {} : { YARDMASTER_API_KEY: key }),
  });

describe('a job that ends while it is watched', () => {
  it('completed: shows every message as a line and exits with 0', async () => {
    const { id } = await createJob(service, 'lines', { name: 'resize' });
    const run = watch(id);
    await run.shows('init');

    await work(service, id, 'claim');
    await work(service, id, 'ack');
    await work(service, id, 'progress', { percent: 12.9, message: 'Reading\n\u001b[31minput\u001b[0m' });
    await work(service, id, 'progress', {
      percent: 60,
      message: 'Resizing',
      subProgress: { decode: { percent: 100 }, scale: { percent: 25, message: 'first pass' } },
    });
    await work(service, id, 'checkpoint', { page: 7 });
    await work(service, id, 'event', 'half-way');
    await work(service, id, 'fail', { error: { code: 'EIO' } });
    await work(service, id, 'claim');
    await work(service, id, 'ack');
    await work(service, id, 'complete', { result: { bytes: 51234 } });

    expect(await run.exit()).toBe(0);
    expect(run.lines()).toEqual([
      'T init          pending',
      'T delivered',
      'T acked',
      'T progress      12% Reading input',
      'T progress      60% Resizing (decode 100%, scale 25% first pass)',
      'T checkpoint    {"page":7}',
      'T event         "half-way"',
      'T retried       attempt 1 failed: {"code":"EIO"}',
      'T delivered',
      'T acked',
      'T completed     {"bytes":51234}',
    ]);
    expect(run.err()).toBe('');
  });

  it('dead: says why and exits with 3', async () => {
    const id = await jobIn(service, 'running', 'dead', { maxRetries: 0 });
    const run = watch(id);
    await run.shows('init');
    await work(service, id, 'fail', { error: 'disk full' });
    expect(await run.exit()).toBe(3);
    expect(run.lines()).toEqual(['T init          running', 'T dead          disk full']);
  });

  it('killed: says why and exits with 4', async () => {
    const id = await jobIn(service, 'running', 'killed');
    const run = watch(id);
    await run.shows('init');
    await work(service, id, 'kill', { reason: 'enough' });
    expect(await run.exit()).toBe(4);
    expect(run.lines()).toEqual(['T init          running', 'T killed        enough']);
  });
});

it.each([
  ['completed', 0],
  ['dead', 3],
  ['killed', 4],
] as const)('a job that is %s already exits at once with %i', async (status, code) => {
  const run = watch(await jobIn(service, status, `already-${status}`));
  expect(await run.exit()).toBe(code);
  expect(run.lines()).toEqual([`T init          ${status}`]);
});

describe('without a key', () => {
  it('shows progress and completion, and exits with 0', async () => {
    const id = await jobIn(service, 'running', 'anonymous');
    await work(service, id, 'progress', { percent: 5, message: 'Begun' });
    const run = watch(id, null);
    await run.shows('init');
    await work(service, id, 'progress', { percent: 50, message: 'Half' });
    await work(service, id, 'complete', { result: 'secret' });
    expect(await run.exit()).toBe(0);
    expect(run.lines()).toEqual(['T init          5% Begun', 'T progress      50% Half', 'T completed']);
  });

  it('exits with 0 for a job that has completed already', async () => {
    const run = watch(await jobIn(service, 'completed', 'anonymous'), null);
    expect(await run.exit()).toBe(0);
    expect(run.lines()).toEqual(['T init          no progress yet', 'T completed']);
  });

  it('exits with 5 for a job that ended in a way that it may not know', async () => {
    const id = await jobIn(service, 'running', 'anonymous');
    const run = watch(id, null);
    await run.shows('init');
    await work(service, id, 'kill', { reason: 'secret' });
    expect(await run.exit()).toBe(5);
    expect(run.lines()).toEqual(['T init          no progress yet']);
    expect(run.err()).toBe(
      'yardmaster: the job has ended; how, is not shown without an API key that holds jobs:read\n',
    );
  });
});

describe('a job that cannot be watched exits with 1 and the reason', () => {
  it('an unknown job', async () => {
    const run = watch('nope');
    expect([await run.exit(), run.out(), run.err()]).toEqual([1, '', 'yardmaster: Job not found\n']);
  });

  it('a key that is none, which is not printed', async () => {
    const run = watch(await jobIn(service, 'pending', 'refused'), 'ym_wrong');
    expect([await run.exit(), run.out(), run.err()]).toEqual([1, '', 'yardmaster: A valid API key is required\n']);
  });

  it('a job of another space', async () => {
    const { key } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
    const run = watch(await jobIn(service, 'pending', 'refused'), key);
    expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: The API key is bound to another space\n']);
  });

  it('a key that is revoked meanwhile', async () => {
    const { id: keyId, key } = await service.key(['jobs:read']);
    const run = watch(await jobIn(service, 'pending', 'revoked'), key);
    await run.shows('init');
    await service.call('DELETE', `/keys/${keyId}`);
    expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: API key is no longer valid\n']);
  });
});

it('takes the key from --token before that of the environment', async () => {
  const run = watch(await jobIn(service, 'killed', 'flag'), 'ym_wrong', '--token', ADMIN_KEY);
  expect(await run.exit()).toBe(4);
});

it('prints with --json each message as it came', async () => {
  const id = await jobIn(service, 'running', 'json', { name: 'resize' });
  const run = watch(id, ADMIN_KEY, '--json');
  await run.shows('init');
  // U+009B begins a terminal sequence and may stand in JSON as it is.
  await work(service, id, 'complete', { result: { text: 'a\n\u009b31mb' } });
  expect(await run.exit()).toBe(0);
  const timestamp = expect.any(String);
  const [init, completed, ...more] = run.out().trimEnd().split('\n');
  expect(more).toEqual([]);
  expect(JSON.parse(init as string)).toEqual({ jobId: id, type: 'init', status: 'running', timestamp });
  expect(JSON.parse(completed as string)).toEqual({
    jobId: id,
    jobName: 'resize',
    type: 'completed',
    status: 'completed',
    data: { text: 'a\n\u009b31mb' },
    timestamp,
  });
  expect(run.out()).not.toContain('\u009b');
});

it('gives up after --timeout with 124', async () => {
  const run = watch(await jobIn(service, 'pending', 'timeout'), ADMIN_KEY, '--timeout', '0.5');
  expect(await run.exit()).toBe(124);
  expect(run.err()).toBe('yardmaster: gave up after 0.5 s\n');
});

it('ends on Ctrl-C with 130', async () => {
  const run = watch(await jobIn(service, 'pending', 'interrupted'));
  await run.shows('init');
  run.child.kill('SIGINT');
  expect([await run.exit(), run.err()]).toEqual([130, '']);
});
