import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { work } from './worker.js';
import { endAll, yardmaster } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

const watch = (...args: string[]) =>
  yardmaster(['watch', ...args], { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: ADMIN_KEY });

it('shows every event of every job as a line, until Ctrl-C', async () => {
  const run = watch('--space', 'yard');
  await run.shows('init');

  const { id: first } = await createJob(service, 'yard', { name: 'resize' });
  await work(service, first, 'claim');
  await work(service, first, 'ack');
  await work(service, first, 'progress', { percent: 40, message: 'Resizing' });
  await work(service, first, 'complete', { result: 1 });
  const second = await jobIn(service, 'killed', 'yard', { name: 'crop' });
  await createJob(service, 'elsewhere');
  await run.shows('killed');

  run.child.kill('SIGINT');
  expect(await run.exit()).toBe(130);
  expect(run.lines()).toEqual([
    'T init          yard',
    `T created       ${first} resize`,
    `T delivered     ${first} resize`,
    `T acked         ${first} resize`,
    `T progress      ${first} resize 40% Resizing`,
    `T completed     ${first} resize 1`,
    `T created       ${second} crop`,
    `T killed        ${second} crop stop`,
  ]);
  expect(run.err()).toBe('');
});

it('prints with --json each message on a line', async () => {
  const run = watch('--space', 'json', '--json');
  await run.shows('init');
  const { id } = await createJob(service, 'json');
  await run.shows('created');
  const [init, created] = run.out().trimEnd().split('\n');
  expect(JSON.parse(init as string)).toMatchObject({ type: 'init', spaceId: 'json' });
  expect(JSON.parse(created as string)).toMatchObject({ type: 'created', spaceId: 'json', jobId: id });
});

it('ends without a word when nobody reads any more', async () => {
  const run = watch('--space', 'head');
  await run.shows('init');
  run.child.stdout?.destroy();
  // A pipe shows that it is closed at the second write at the latest.
  await until(async () => {
    await createJob(service, 'head');
    return run.child.exitCode !== null;
  });
  expect([run.child.exitCode, run.err()]).toEqual([141, '']);
});
