import { expect, it } from '@jest/globals';
import { createJob, step } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const open = withDashboards(service);
const SPACE = 'live-job';

/** Return the timeline of attempts, without durations. */
const timelineOf = async (dashboard: Dashboard) =>
  (await dashboard.texts('.timeline li')).map((text) => text.replace(/ [\d.]+ (ms|s|min)/, '').trim());

const logsOf = (dashboard: Dashboard): Promise<string[]> => dashboard.texts('.entry > bdi:first-of-type');

const numbers = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => String(from - i));

/** Append log entries whose messages are numbers. */
async function log(id: string, from: number, to: number, level = 'info'): Promise<void> {
  const logs = Array.from({ length: to - from + 1 }, (_, i) => ({ level, message: `entry ${from + i}` }));
  await step(service, id, 'logs', { logs });
}

it('shows attempts, progress, stages, checkpoint and result of a job live', async () => {
  const { id } = await createJob(service, SPACE, { maxRetries: 1 });
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.isLive();
  const timeline = (wanted: string[]) =>
    until(async () => JSON.stringify(await timelineOf(dashboard)) === JSON.stringify(wanted));
  await timeline(['wait …']);
  await step(service, id, 'claim', { workerId: 'w-1' });
  await timeline(['wait', 'delivered …']);
  await step(service, id, 'ack');
  await timeline(['wait', 'delivered', 'attempt 1 …']);
  await step(service, id, 'progress', {
    ...{ percent: 41.5, message: 'half way' },
    subProgress: { decode: { percent: 100 }, scale: { percent: 25, message: 'first pass' } },
  });
  await dashboard.waitFor('41% half way');
  await dashboard.waitFor('decode 100%');
  await dashboard.waitFor('scale 25% first pass');
  await step(service, id, 'checkpoint', { page: 7 });
  await dashboard.waitFor('Checkpoint { "page": 7 }');
  await step(service, id, 'fail', { error: 'no paper' });
  await timeline(['wait', 'delivered', 'attempt 1 ✕ failed', 'wait …']);
  await dashboard.waitFor('The latest attempt failed: no paper');
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  await timeline(['wait', 'delivered', 'attempt 1 ✕ failed', 'wait', 'delivered', 'attempt 2 …']);
  await dashboard.waitFor('attempt 2 of 2');
  await step(service, id, 'complete', { result: { pages: 3 } });
  await timeline(['wait', 'delivered', 'attempt 1 ✕ failed', 'wait', 'delivered', 'attempt 2 ✓']);
  await dashboard.waitFor('Result { "pages": 3 }');
  const { events } = (await service.call('GET', `/jobs/${id}`)).body;
  const types = events.map(({ type }: { type: string }) => type).reverse();
  await dashboard.waitForTexts('[aria-label=History] td:nth-child(2)', types);
});

it('shows all of a long history, and appends new events', async () => {
  const { id } = await createJob(service, SPACE);
  for (const verb of ['claim', 'ack']) await step(service, id, verb);
  for (let n = 4; n <= 230; n++) await step(service, id, 'event', n);
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitForTexts('[aria-label=History] td:nth-child(3)', numbers(230, 181));
  await dashboard.click('Show all 230 events');
  await dashboard.isLive();
  await step(service, id, 'complete');
  await dashboard.waitForTexts('[aria-label=History] td:nth-child(3)', ['', ...numbers(230, 4), '', '', '']);
});

it('shows the new job after a job is deleted and created again with the same ID', async () => {
  const create = () =>
    service.call('POST', `/spaces/${SPACE}/jobs`, {
      body: { name: 'work' },
      headers: { 'idempotency-key': 'shorter' },
    });
  const { id } = (await create()).body;
  for (const verb of ['claim', 'ack', 'complete']) await step(service, id, verb);
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitFor('work completed');
  await service.call('DELETE', `/jobs/${id}`);
  expect((await create()).body.id).toBe(id);
  await dashboard.waitFor('work pending');
});

it('follows the log of a job until the user stops it', async () => {
  const { id } = await createJob(service, SPACE);
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.isLive();
  await log(id, 1, 100);
  const isAtEnd = `(() => { const it = document.querySelector('.entries'); return it.scrollHeight - it.clientHeight - it.scrollTop < 2; })()`;
  await until(async () => (await logsOf(dashboard)).at(-1) === 'entry 100');
  await until(() => dashboard.page.evaluate(isAtEnd));
  await dashboard.click('follow');
  await log(id, 101, 101);
  await step(service, id, 'progress', { percent: 1, message: 'after the entry' });
  await dashboard.waitFor('after the entry');
  expect((await logsOf(dashboard)).at(-1)).toBe('entry 100');
  await dashboard.click('follow');
  await until(async () => (await logsOf(dashboard)).at(-1) === 'entry 101');
  expect(await logsOf(dashboard)).toHaveLength(101);
});

it('filters the logs of a job by level and by text', async () => {
  const { id } = await createJob(service, SPACE);
  await step(service, id, 'claim');
  await log(id, 1, 3, 'info');
  await log(id, 4, 5, 'warn');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitFor('entry 1');
  await dashboard.choose('level', 'warn');
  await until(async () => (await logsOf(dashboard)).join() === 'entry 4,entry 5');
  await dashboard.fill('find', 'ENTRY 5', /^find$/);
  await until(async () => (await logsOf(dashboard)).join() === 'entry 5');
  await log(id, 49, 50, 'warn');
  await until(async () => (await logsOf(dashboard)).join() === 'entry 5,entry 50');
});

it('loads older log entries of a job once and in order', async () => {
  const { id } = await createJob(service, SPACE);
  await step(service, id, 'claim');
  await log(id, 1, 100);
  for (let from = 101; from < 450; from += 100) await log(id, from, from + 99);
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitFor('entry 500');
  expect(await logsOf(dashboard)).toHaveLength(200);
  await dashboard.click('Load older entries');
  await until(async () => (await logsOf(dashboard)).length === 400);
  await dashboard.click('Load older entries');
  await until(async () => (await logsOf(dashboard)).length === 500);
  expect(await logsOf(dashboard)).toEqual(Array.from({ length: 500 }, (_, i) => `entry ${i + 1}`));
  expect(await dashboard.names('button')).not.toContain('Load older entries');
});
