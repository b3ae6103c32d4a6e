import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { Chromium, type Page } from './chromium.js';
import { type Site, startSite } from './site.js';

// Tests with the browser's client for server-sent events, which reconnects on its own.

let chromium: Chromium;
let site: Site;

beforeAll(async () => {
  chromium = await Chromium.start();
  site = await startSite();
});
afterAll(async () => {
  await chromium?.stop(); // Undefined if the start failed.
  await site?.stop();
});

/** Open a page of the gateway's own origin with an EventSource, which keeps what it gets. */
async function watch(jobId: string): Promise<Page> {
  const { token } = await site.call('POST', '/stream-tokens', { scope: 'jobs:read', jobIds: [jobId] });
  const page = await chromium.open(`${site.gatewayUrl}/livez`);
  await until(async () => (await page.evaluate('location.pathname')) === '/livez');
  await page.evaluate(`{
    window.seen = [];
    window.source = new EventSource('/api/v1/realtime/${jobId}?token=${token}');
    source.onmessage = ({ data, lastEventId }) => seen.push([JSON.parse(data).type, lastEventId]);
  }`);
  return page;
}

const seen = ({ evaluate }: Page): Promise<[type: string, id: string][]> => evaluate('seen');
const event = (id: string, n: number) => site.call('POST', `/jobs/${id}/event`, n);

async function runningJob(): Promise<string> {
  const id = await site.job();
  await site.call('POST', `/jobs/${id}/claim`);
  await site.call('POST', `/jobs/${id}/ack`);
  return id;
}

it('an EventSource gets each event once across two killed gateways, and stops when the job ends', async () => {
  const id = await runningJob();
  const page = await watch(id);
  await until(async () => (await seen(page)).length === 1);
  await event(id, 1);
  await until(async () => (await seen(page)).length === 2);
  for (const n of [2, 3]) {
    await site.haltGateway('SIGKILL');
    await event(id, n);
    await site.startGateway();
    await until(async () => (await seen(page)).some(([, seq]) => seq === `${3 + n}`));
  }
  await site.call('POST', `/jobs/${id}/complete`);
  await until(async () => (await page.evaluate('source.readyState')) === 2);
  const events = (await seen(page)).filter(([type]) => type !== 'init');
  expect(events).toEqual([
    ['event', '4'],
    ['event', '5'],
    ['event', '6'],
    ['completed', '7'],
  ]);
});

it('an EventSource gets the outcome of a job that has ended, and stops', async () => {
  const id = await runningJob();
  await site.call('POST', `/jobs/${id}/complete`);
  const page = await watch(id);
  await until(async () => (await page.evaluate('source.readyState')) === 2);
  expect((await seen(page)).map(([type]) => type)).toEqual(['init']);
});

it('an EventSource gets events through nginx as they happen', async () => {
  const id = await runningJob();
  const response = await fetch(`${site.nginx.url}/api/v1/realtime/${id}`, {
    headers: { accept: 'text/event-stream', 'x-api-key': await site.key('jobs:read') },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  const read = async (wanted: string) => {
    while (!text.includes(wanted)) text += Buffer.from((await reader.read()).value ?? []).toString();
  };
  await read('"type":"init"');
  await event(id, 1);
  await read('"type":"event"');
  await site.call('POST', `/jobs/${id}/complete`);
  await read('"type":"completed"');
  while (!(await reader.read()).done);
});
