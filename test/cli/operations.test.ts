import { afterEach, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { endAll } from './yardmaster.js';

const service = withService();
afterEach(endAll);

const here = (spaceId: string, ...args: string[]) =>
  yardmasterHere(['operations', ...args], { ...asAdmin(service), YARDMASTER_SPACE: spaceId });

it('operations start requeues dead jobs, waits for the end, and prints the counts', async () => {
  const ids = [await jobIn(service, 'dead', 'cli-op'), await jobIn(service, 'dead', 'cli-op', { name: 'other' })];
  const run = here('cli-op', 'start', 'requeue', '--status', 'dead', '--name', 'work', '--wait');
  expect(await run.end()).toEqual([0, ['done: 1 changed, 0 skipped, 2 examined'], '']);
  const statuses = await Promise.all(ids.map(async (id) => (await service.call('GET', `/jobs/${id}`)).body.status));
  expect(statuses).toEqual(['pending', 'dead']);
});

it('operations starts an operation, shows it, lists it and cancels it', async () => {
  await jobIn(service, 'dead', 'cli-op-list');
  const [code, [id = '']] = await here('cli-op-list', 'start', 'delete', '--status', 'dead', '--dry-run').end();
  expect(code).toBe(0);
  await until(async () => (await service.call('GET', `/operations/${id}`)).body.status === 'done');
  const shown = await here('cli-op-list', 'get', id).end();
  expect(shown).toEqual([0, ['done: 1 would be changed, 0 skipped, 1 examined'], '']);
  const [, [titles = '', line = '']] = await here('cli-op-list', 'list').end();
  expect(titles.split(/ +/)).toEqual(['ID', 'ACTION', 'STATUS', 'CHANGED', 'SKIPPED', 'EXAMINED', 'LEFT', 'STARTED']);
  expect(line).toMatch(new RegExp(`^${id} +delete \\(dry run\\) +done +1 +0 +1 +0 `));
  expect(await here('cli-op-list', 'cancel', id).end()).toEqual([0, [`cancelled ${id}`], '']);
});

it('operations start prints why the service refuses an operation', async () => {
  const [code, out, err] = await here('cli-op', 'start', 'requeue', '--status', 'completed').end();
  expect([code, out]).toEqual([1, []]);
  expect(err).toContain('filter.status must be of dead, killed with action requeue');
});
