// Store the text of web pages: node examples/page-text/main.mjs [--folder pages] <URL> …
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
  // With a short window, so that a run without a service ends soon.
  const client = new Yardmaster({ apiKey: apiKey(), space, retryWindow: '10s' });
  // The folder is the choice of the worker, so that a client that creates jobs cannot choose where it writes.
  const worker = new Worker(client).on('page-text', storePages(resolve(values.folder)));

  const job = await client.create('page-text', { urls }, { retry: { delaySeconds: 2, factor: 2 } });
  const stopped = new AbortController();
  const result = job.result({ signal: stopped.signal }).finally(() => worker.stop());
  const stop = () => stopped.abort(new Error('The worker was stopped before the job has ended'));
  await Promise.all([result, worker.run().finally(stop)]);
  for (const file of (await result).files) process.stdout.write(`${file}\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  if (error.code === 'NO_RESPONSE') process.stderr.write('Start the service with npm start, or set YARDMASTER_URL.\n');
  process.exitCode = 1;
});
