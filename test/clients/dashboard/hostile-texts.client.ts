import { beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { until } from '../../support/until.js';
import type { Dashboard } from './dashboard.js';
import { withDashboards } from './with-dashboards.js';

// Untrusted texts are shown unchanged: nothing in them runs, and nothing breaks the page.

const service = withService();
const open = withDashboards(service);

const RUN = 'window.__ran=1';
const TEXTS = {
  script: `<script>${RUN}</script>`,
  attribute: `"><img src=x onerror="${RUN}">`,
  link: `<a href="javascript:${RUN}">x</a>`,
  'right-to-left': '\u202Egnp.exe \u2067abc',
  long: 'W'.repeat(10_000),
  'long with spaces': 'ab '.repeat(3_300),
} as const;

const SPACE = 'hostile';
/** IDs of a dead and a killed job for each kind of text. */
const ids: Record<string, string> = {};
const killed: Record<string, string> = {};

/** Create a job that has the text wherever possible, and let it fail with that text. */
async function hostileJob(text: string): Promise<string> {
  const short = text.slice(0, 128);
  const { id } = await createJob(service, SPACE, {
    ...{ name: short, tags: [text.slice(0, 64)], maxRetries: 0 },
    ...{ payload: { [text]: text }, unique: { key: `${short} ${Math.random()}`.slice(-128) } },
  });
  await step(service, id, 'claim', { workerId: short });
  await step(service, id, 'ack');
  await step(service, id, 'progress', {
    percent: 10,
    message: text,
    subProgress: { [short]: { percent: 5, message: text } },
  });
  await step(service, id, 'checkpoint', { [text]: text });
  await step(service, id, 'logs', {
    logs: [{ level: 'warn', message: text, source: short, metadata: { [short]: short } }],
  });
  await step(service, id, 'fail', { error: text });
  return id;
}

async function pass(path: string, body: object): Promise<void> {
  const { status, text } = await service.call('POST', `/spaces/${SPACE}/${path}`, { body });
  if (status >= 300) throw new Error(`${path}: ${text}`);
}

beforeAll(async () => {
  for (const [kind, text] of Object.entries(TEXTS)) {
    ids[kind] = await hostileJob(text);
    killed[kind] = await jobIn(service, 'pending', SPACE);
    await step(service, killed[kind], 'kill', { reason: text.slice(0, 1000) });
    await service.key(['jobs:read'], { name: text.slice(0, 128) });
    await pass('pause', { names: [text.slice(0, 128)] });
    const filter = { status: ['killed'], names: [text.slice(0, 128)], q: text.slice(0, 200) };
    await pass('operations', { action: 'requeue', filter, reason: text.slice(0, 1000) });
  }
});

/** What texts must not cause: scripts that run, elements in the page, or content wider than the window. */
async function expectHarmless(dashboard: Dashboard): Promise<void> {
  const found = await dashboard.page.evaluate(`({
    ran: window.__ran ?? null,
    images: document.images.length,
    scripts: document.scripts.length,
    links: document.querySelectorAll('a[href^="javascript:"]').length,
    tooWide: document.documentElement.scrollWidth > innerWidth,
  })`);
  expect(found).toEqual({ ran: null, images: 0, scripts: 1, links: 0, tooWide: false });
}

describe.each([1400, 420])('in a window of %i px', (width) => {
  it.each([
    ['spaces', '#/', 'Spaces'],
    ['jobs', `#/spaces/${SPACE}`, 'by error'],
    ['operations', `#/spaces/${SPACE}/operations`, 'requeue Jobs with'],
    ['settings', `#/spaces/${SPACE}/settings`, 'names are paused'],
    ['keys', '#/keys', 'Revoke'],
    ['audit', '#/audit', 'hostile'],
  ])('hostile texts do not change the layout of the screen of %s', async (_, hash, shown) => {
    const dashboard = await open(hash, { width });
    await dashboard.waitFor(shown);
    await expectHarmless(dashboard);
  });

  it.each(Object.keys(TEXTS))(
    'texts of the kind %s do not change the layout of the screen of a job and its dialogs',
    async (kind) => {
      const dashboard = await open(`#/jobs/${ids[kind]}`, { width });
      await dashboard.waitFor('History');
      await until(async () => (await dashboard.texts('.entry')).length > 0);
      await expectHarmless(dashboard);
      for (const [act, verb] of Object.entries({
        'Delete…': 'Delete 1 job',
        'Copy as new job…': 'Create copy',
      })) {
        await dashboard.click(act);
        await dashboard.find(verb);
        await expectHarmless(dashboard);
        await dashboard.click('Cancel');
      }
      await dashboard.go(`#/jobs/${killed[kind]}`);
      await dashboard.waitFor('Killed at');
      await expectHarmless(dashboard);
    },
  );
});

it('shows markup as plain text on the live page of a job', async () => {
  const { id } = await createJob(service, SPACE);
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  const dashboard = await open(`#/jobs/${id}`);
  await dashboard.waitFor('work running');
  for (const text of Object.values(TEXTS)) {
    await step(service, id, 'progress', {
      percent: 1,
      message: text,
      subProgress: { [text.slice(0, 64)]: { percent: 1 } },
    });
    await step(service, id, 'logs', { logs: [{ level: 'info', message: text }] });
    await dashboard.waitFor(text.slice(0, 60).replace(/\s+/g, ' '));
    await expectHarmless(dashboard);
  }
});

it('shows hostile progress safely on a shared page', async () => {
  const { id } = await createJob(service, SPACE);
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  await step(service, id, 'progress', {
    percent: 1,
    message: TEXTS.attribute,
    subProgress: { [TEXTS.script]: { percent: 2 } },
  });
  const body = { scope: 'jobs:read:progress', jobIds: [id] };
  const { token } = (await service.call('POST', '/stream-tokens', { body })).body;
  const dashboard = await open(`#/progress/${id}?token=${token}`, { key: null });
  await dashboard.waitFor(TEXTS.attribute);
  await dashboard.waitFor(TEXTS.script);
  await expectHarmless(dashboard);
});
