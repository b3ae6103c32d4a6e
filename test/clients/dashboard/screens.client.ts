import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { ADMIN_KEY } from '../../support/shared-service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import type { Name } from './elements.js';
import { withDashboards } from './with-dashboards.js';

const service = withService();
const empty = withService({ UI: 'true' }, { isOwn: true });
const open = withDashboards(service);
const openEmpty = withDashboards(empty);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SPACE = 'screens';

let job: string;
let progressLink: string;
beforeAll(async () => {
  job = await jobIn(service, 'running', SPACE, { name: 'resize', tags: ['eu'], payload: { page: 1 }, maxRetries: 1 });
  await step(service, job, 'progress', { percent: 40, message: 'half way', subProgress: { decode: { percent: 9 } } });
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    await step(service, job, 'logs', { logs: [{ level, message: 'an entry', source: 'scaler', metadata: { a: 1 } }] });
  await step(service, job, 'checkpoint', { page: 7 });
  for (const status of ['scheduled', 'pending', 'completed', 'dead', 'killed'] as const)
    await jobIn(service, status, SPACE, { name: 'resize', tags: ['eu'] });
  await createJob(service, SPACE, { name: 'invoice' });
  const body = { action: 'kill', filter: { status: ['pending'], names: ['none'] }, reason: 'a reason' };
  await service.call('POST', `/spaces/${SPACE}/operations`, { body });
  await service.key(['jobs:read'], { name: 'viewer', spaceId: SPACE });
  await service.call('POST', `/spaces/${SPACE}/pause`, { body: { names: ['invoice'] } });
  const token = await service.call('POST', '/stream-tokens', { body: { scope: 'jobs:read:progress', jobIds: [job] } });
  progressLink = `#/progress/${job}?token=${token.body.token}`;
});

/** Expect that axe finds nothing serious or critical, in light and dark mode. */
async function expectAccessible({ page }: Dashboard): Promise<void> {
  await page.evaluate(`${AXE}; void 0`);
  for (const value of ['light', 'dark']) {
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    const faults =
      await page.evaluate(`axe.run({ resultTypes: ['violations'], preload: false }).then(({ violations }) =>
      violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`);
    expect({ value, faults }).toEqual({ value, faults: [] });
  }
}

interface Screen {
  hash: () => string;
  /** Text that appears once the screen is complete. */
  shown: string;
  isGuest?: boolean;
  isEmpty?: boolean;
}

const filter = 'status=pending&status=scheduled&name=resize&tag=eu&since=24';
const SCREENS: Record<string, Screen> = {
  'the sign-in': { hash: () => '#/keys', shown: 'API key', isGuest: true },
  'the first run': { hash: () => '#/', shown: 'Run your first job', isEmpty: true },
  'the spaces': { hash: () => '#/', shown: 'failed with' },
  'the jobs of a space': { hash: () => `#/spaces/${SPACE}`, shown: 'broken' },
  'filtered jobs': { hash: () => `#/spaces/${SPACE}?${filter}`, shown: 'Resume in Settings' },
  'a job': { hash: () => `#/jobs/${job}`, shown: 'an entry' },
  'the operations': { hash: () => `#/spaces/${SPACE}/operations`, shown: 'a reason' },
  'the settings': { hash: () => `#/spaces/${SPACE}/settings`, shown: 'paused' },
  'the keys': { hash: () => '#/keys', shown: 'viewer' },
  'the audit': { hash: () => '#/audit', shown: 'invoice' },
  'shared progress': { hash: () => progressLink, shown: 'half way', isGuest: true },
  'an unknown page': { hash: () => '#/nowhere', shown: 'Page not found' },
};

async function show({ hash, shown, isGuest, isEmpty }: Screen): Promise<Dashboard> {
  const dashboard = await (isEmpty ? openEmpty : open)(hash(), { key: isGuest ? null : ADMIN_KEY });
  await dashboard.waitFor(shown);
  return dashboard;
}

it.each(Object.entries(SCREENS))('the screen of %s is accessible, and the same after a reload', async (_, screen) => {
  const dashboard = await show(screen);
  await expectAccessible(dashboard);
  // Counts appear later than their links.
  const controls = async () => (await dashboard.names('link')).map((name) => name.replace(/ \d+$/, ''));
  const before = await controls();
  await dashboard.reload();
  await dashboard.waitFor(screen.shown);
  expect(await dashboard.hash()).toBe(screen.hash());
  await until(async () => {
    const after = await controls();
    return before.every((link) => after.includes(link));
  });
});

it.each<[name: string, hash: () => string, opener: Name, title: string]>([
  ['find', () => '#/', /^Find a job/, 'Find'],
  ['the keyboard', () => '#/', 'Keyboard shortcuts', 'Keyboard shortcuts'],
  ['a kill', () => `#/jobs/${job}`, 'Kill…', 'Kill resize'],
  ['a new job', () => `#/spaces/${SPACE}`, 'New job…', 'New job in'],
  ['an operation', () => `#/spaces/${SPACE}?status=dead`, 'Requeue all matching jobs…', 'Requeue 1 job'],
  ['a new key', () => '#/keys', 'New key…', 'New API key'],
])('the dialog of %s is accessible', async (_, hash, opener, title) => {
  const dashboard = await open(hash());
  await dashboard.click(opener);
  await dashboard.waitFor(title);
  await expectAccessible(dashboard);
});

it('shows the filter of the URL after a reload', async () => {
  const dashboard = await show(SCREENS['filtered jobs'] as Screen);
  await dashboard.reload();
  await dashboard.waitForTexts('tbody td:nth-child(4)', ['pending', 'scheduled']);
  const marked = await dashboard.texts('[aria-label=Status] [aria-current]');
  expect(marked.map((text) => text.replace(/ ?\d+$/, ''))).toEqual(['scheduled', 'pending']);
});
