// npm run draw:dashboard: makes docs/dashboard.png and docs/dashboard.gif, the pictures of the README, of a real run. It
// starts a service of its own and the examples checksums and worker, and looks at them in Chromium, which it needs.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import gifenc from 'gifenc';
import { PNG } from 'pngjs';
import '../typescript.mjs';
import { root, setUp } from '../set-up.mjs';
import { startService } from './service.mjs';

const { GIFEncoder, applyPalette, quantize } = gifenc;

const SIZE = { width: 1180, height: 620 };
const FRAME_MS = 400;

setUp('apps/standalone', 'sdk/typescript');
const { Chromium } = await import('../../test/clients/chromium.ts');

const service = await startService();
const chromium = await Chromium.start();
const examples = [];
try {
  const call = async (path, body = {}) => {
    const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const start = (...args) => {
    const env = { ...process.env, YARDMASTER_URL: service.url, YARDMASTER_API_KEY: service.key };
    examples.push(spawn(process.execPath, args, { cwd: root, env, stdio: 'ignore' }));
  };

  // Invoices that no worker takes any more, after some have failed.
  for (let i = 0; i < 9; i++) {
    await call('/spaces/billing/jobs', { name: 'invoice', payload: { customer: 100 + i }, maxRetries: 0 });
    const { jobs } = await call('/spaces/billing/jobs/poll', { autoAck: true });
    const error = i % 3 === 0 ? 'timeout of the payment service' : 'card_declined';
    await call(`/jobs/${jobs[0].id}/progress`, { percent: 60, message: 'Charging the card' });
    await call(`/jobs/${jobs[0].id}/fail`, { error });
  }
  const waiting = Array.from({ length: 24 }, (_, i) => ({ name: 'invoice', payload: { customer: 200 + i } }));
  await call('/spaces/billing/jobs', waiting);

  const images = ['cat.png', 'dog.png', 'fox.png', 'owl.png', 'hen.png', 'bee.png', 'ant.png', 'elk.png'];
  await call(
    '/spaces/demo/jobs',
    images.map((image, i) => ({ name: 'resize', payload: { image, width: 320 + 10 * i } })),
  );
  start('examples/worker.mjs');
  start('examples/worker.mjs');
  start('examples/checksums/main.mjs', 'docs');

  const page = await chromium.open(
    `${service.url}/ui/`,
    `sessionStorage.setItem('yardmaster-api-key', ${JSON.stringify(service.key)})`,
  );
  await page.send('Emulation.setDeviceMetricsOverride', { ...SIZE, deviceScaleFactor: 1, mobile: false });
  const frames = [];
  const look = async () => {
    const { data } = await page.send('Page.captureScreenshot', { format: 'png' });
    frames.push(PNG.sync.read(Buffer.from(data, 'base64')));
    return Buffer.from(data, 'base64');
  };
  const lookFor = async (seconds) => {
    for (let i = 0; i < (seconds * 1000) / FRAME_MS; i++) {
      await Promise.all([look(), sleep(FRAME_MS)]);
    }
  };
  const shown = async (expression) => {
    while (!(await page.evaluate(expression))) await sleep(50);
  };
  const hasText = (text) => `document.body.innerText.includes(${JSON.stringify(text)})`;
  const click = (expression) => page.evaluate(`${expression}.click()`);

  await shown(hasText('card_declined'));
  await lookFor(3);
  await click(`document.querySelector('a[href="#/spaces/demo"]')`);
  await shown(`document.querySelectorAll('tbody tr').length >= ${images.length}`);
  await lookFor(1);
  writeFileSync(`${root}docs/dashboard.png`, await look());
  await lookFor(5);
  await click(
    `[...document.querySelectorAll('tbody tr')].find((row) => row.innerText.includes('running')).querySelector('a')`,
  );
  await shown(hasText('Logs'));
  await lookFor(5);
  await click(`document.querySelector('a.name')`);
  await shown(hasText('card_declined'));
  await lookFor(2);
  await click(
    `[...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('Requeue all of these'))`,
  );
  await shown(hasText('Requeue 6 jobs'));
  await lookFor(2);
  await click(`document.querySelector('dialog button[type=submit]')`);
  await shown(hasText('done'));
  await lookFor(3);
  writeFileSync(`${root}docs/dashboard.gif`, gifOf(frames));
} finally {
  for (const example of examples) example.kill();
  await chromium.stop();
  await service.stop();
}

/** Encode frames with the colours of the richest of them. Frames that show the same are one. */
function gifOf(frames) {
  const gif = GIFEncoder();
  const palette = quantize(Buffer.concat(frames.filter((_, i) => i % 6 === 0).map(({ data }) => data)), 128);
  let at = 0;
  while (at < frames.length) {
    const { data, width, height } = frames[at];
    let next = at + 1;
    while (next < frames.length && frames[next].data.equals(data)) next++;
    gif.writeFrame(applyPalette(data, palette), width, height, { palette, delay: (next - at) * FRAME_MS });
    at = next;
  }
  gif.finish();
  return gif.bytes();
}
