import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { until } from '../support/until.js';
import { Chromium, type Page } from './chromium.js';
import { type PageServer, servePage } from './page.js';
import { type Site, startSite } from './site.js';

let chromium: Chromium;
let pages: PageServer;
let site: Site;
const opened: Page[] = [];

beforeAll(async () => {
  chromium = await Chromium.start();
  pages = await servePage();
  site = await startSite();
});
afterEach(() => {
  expect(opened.splice(0).flatMap(({ exceptions }) => exceptions)).toEqual([]);
});
afterAll(async () => {
  await chromium?.stop(); // Undefined if the start failed.
  await pages?.stop();
  await site?.stop();
});

/** Open the documented page for a job, or for any id, with its random waits shortened. */
async function watch(jobId: string, url = site.nginx.url): Promise<Page> {
  const stream = `${url.replace('http', 'ws')}/api/v1/realtime/${jobId}`;
  const page = await chromium.open(pages.pageOf(stream), 'Math.random = () => 0.01;');
  opened.push(page);
  return page;
}

/** Read the visible text of the page and the value of the progress bar; -1 for an indeterminate bar. */
const shown = ({ evaluate }: Page) =>
  evaluate(`({
    text: document.body?.innerText.split(/\\n+/).map((line) => line.trim()).filter(Boolean) ?? [],
    bar: document.querySelector('progress')?.position,
  })`);

/** Wait until the page shows exactly this. */
async function untilShown(page: Page, text: string[], bar: number): Promise<void> {
  let last: unknown;
  try {
    await until(async () => {
      last = await shown(page);
      return JSON.stringify(last) === JSON.stringify({ text, bar });
    });
  } catch {
    expect(last).toEqual({ text, bar });
  }
}

const progress = (id: string, percent: number, message: string, subProgress?: object) =>
  site.call('POST', `/jobs/${id}/progress`, { percent, message, subProgress });

async function run(id: string): Promise<void> {
  await site.call('POST', `/jobs/${id}/claim`);
  await site.call('POST', `/jobs/${id}/ack`);
}

it('the documented page shows a job from its creation to its end', async () => {
  const id = await site.job();
  const page = await watch(id);
  await untilShown(page, ['Waiting for the first report'], -1);

  await run(id);
  await progress(id, 40.5, 'Resizing', { decode: { percent: 100 }, scale: { percent: 12, message: 'row 7' } });
  await untilShown(page, ['Resizing', '40%', 'decode', '100%', 'scale: row 7', '12%'], 0.405);

  await site.call('POST', `/jobs/${id}/complete`, { result: { secret: 'not for everybody' } });
  await untilShown(page, ['Done', '100%'], 1);
});

it('the documented page shows messages from workers as plain text', async () => {
  const id = await site.job();
  await run(id);
  const page = await watch(id);
  const markup = '<img src=x onerror="document.title = `run`">';
  await progress(id, 1, markup, { [markup]: { percent: 1, message: markup } });
  await untilShown(page, [markup, '1%', `${markup}: ${markup}`, '1%'], 0.01);
  expect(await page.evaluate('[document.images.length, document.title]')).toEqual([0, 'Progress']);
});

it('the documented page shows the latest progress and the outcome of a job even if it is opened late', async () => {
  const id = await site.job();
  await run(id);
  await progress(id, 70, 'Nearly there');
  await untilShown(await watch(id), ['Nearly there', '70%'], 0.7);
  await site.call('POST', `/jobs/${id}/complete`);
  await untilShown(await watch(id), ['Done', '100%'], 1);
});

it('the documented page reconnects after an outage of the gateway and nginx, and shows the missed events', async () => {
  const id = await site.job();
  await run(id);
  await progress(id, 10, 'Begun');
  const page = await watch(id);
  await untilShown(page, ['Begun', '10%'], 0.1);

  await site.haltGateway();
  await untilShown(page, ['Begun', '10%', 'Reconnecting…'], 0.1);
  await progress(id, 20, 'Without a gateway');
  await site.startGateway();
  await untilShown(page, ['Without a gateway', '20%'], 0.2);

  await site.nginx.halt();
  await untilShown(page, ['Without a gateway', '20%', 'Reconnecting…'], 0.2);
  await site.nginx.start();
  await untilShown(page, ['Without a gateway', '20%'], 0.2);

  await progress(id, 30, 'And on');
  await untilShown(page, ['And on', '30%'], 0.3);
  await site.call('POST', `/jobs/${id}/complete`);
  await untilShown(page, ['Done', '100%'], 1);
});

it('the documented page shows that a job has ended if its stream does not say how, and does not reconnect', async () => {
  // A fake gateway: the real one would close the stream up to a minute later.
  const gateway = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  gateway.on('connection', (ws) => {
    const init = {
      type: 'init',
      progress: { percent: 30, message: 'On the way' },
      timestamp: new Date().toISOString(),
    };
    ws.send(JSON.stringify({ jobId: 'job', ...init }));
    ws.close(1000);
  });
  await once(gateway, 'listening');
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  await untilShown(await watch('job', url), ['On the way', '30%', 'This job has ended.'], 0.3);
  gateway.close();
});

it('the documented page stops for a job that does not exist', async () => {
  await untilShown(await watch('nosuchjob'), ['Waiting for the first report', 'This job cannot be watched.'], -1);
});
