// Store the text of web pages: node examples/page-text/main.mjs [--folder pages] <URL> …
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker, Yardmaster } from '@yardmaster/sdk';
import { storePages } from './store-pages.mjs';

/** The variable, or the admin key that `npm start` keeps in the root of the repository. */
function apiKey() {
  if (process.env.YARDMASTER_API_KEY) return process.env.YARDMASTER_API_KEY;
  try {
    return readFileSync(new URL('../../.data/admin-key', import.meta.url), 'utf8').trim();
  } catch ({ message }) {
    throw new Error(`No API key: start the service with npm start, or set YARDMASTER_API_KEY (${message})`);
  }
}

async function main() {
  const { values, positionals: urls } = parseArgs({
    options: { folder: { type: 'string', default: 'pages' } },
    allowPositionals: true,
  });
  if (urls.length === 0) throw new Error('Give one URL or more');
  const space = process.env.YARDMASTER_SPACE ?? 'page-text';
  // A short retry window, so that a run without a service fails quickly.
  const client = new Yardmaster({ apiKey: apiKey(), space, retryWindow: '10s' });
  // The worker chooses the folder, so that a client that creates jobs can't choose where it writes.
  const folder = resolve(values.folder);
  const worker = new Worker(client, { drain: '2s' }).on('page-text', storePages(folder));

  // Running the same command again continues the job of a stopped run; after a kill, once 10 s have passed.
  const key = createHash('sha256')
    .update(JSON.stringify([folder, urls]))
    .digest('hex');
  const options = { unique: { key }, timeout: '10s', retry: { delaySeconds: 2, factor: 2 } };
  const job = await client.create('page-text', { urls }, options);
  const stopped = new AbortController();
  const result = job.result({ signal: stopped.signal }).finally(() => worker.stop());
  const stop = () => stopped.abort(new Error('Stopped; the same command continues the job'));
  await Promise.all([result, worker.run().finally(stop)]);
  for (const file of (await result).files) process.stdout.write(`${file}\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  if (error.code === 'NO_RESPONSE') process.stderr.write('Start the service with npm start, or set YARDMASTER_URL.\n');
  process.exitCode = 1;
});
