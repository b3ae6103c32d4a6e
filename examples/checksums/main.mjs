// Compute the SHA-256 of every file in a folder. Each file is a job, and several worker processes run them. See README.md.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Yardmaster } from '@yardmaster/sdk';
import { readOptions } from './options.mjs';

const print = (text) => process.stderr.write(`${text}\n`);

const options = readOptions();
const space = `checksums-${new Date().toISOString().replaceAll(':', '-')}`;
const client = new Yardmaster({ apiKey: options.apiKey, space });
// A short retry window, so that a run without a service fails quickly.
const keys = new Yardmaster({ apiKey: options.apiKey, space, retryWindow: '3s' });
const workers = new Set();
/** Aborted when the run is over: at its end, by an error, or by Ctrl-C. A second Ctrl-C doesn't wait for the workers. */
const over = new AbortController();
const { signal } = over;
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => over.abort(new Error(`Stopped by ${name}`)));

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  print(error.message);
  if (error.code === 'NO_RESPONSE') print('Start the service with npm start, or set YARDMASTER_URL.');
  process.exitCode = 1;
}

/** @returns whether each file has its checksum */
async function run() {
  const entries = await readdir(options.folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  print(`${files.length} files. Watch the run: npx yardmaster watch --space ${space}`);
  // The workers' key expires, in case this process is killed before it revokes the key.
  const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1000);
  const body = { name: space, spaceId: space, scopes: ['jobs:worker', 'jobs:read'], expiresAt };
  const { id, key } = await keys.send({ method: 'POST', path: '/keys', body: JSON.stringify(body) });
  try {
    for (let i = 0; i < options.workers; i++) startWorker(key);
    const lines = await collect(files, await createJobs(files.sort()));
    if (options.output) await writeFile(options.output, lines.join(''));
    return lines.length === files.length;
  } finally {
    over.abort();
    // A worker stops when its channel is closed.
    for (const worker of workers) if (worker.connected) worker.disconnect();
    await Promise.all([...workers].map((worker) => once(worker, 'exit')));
    await keys.send({ method: 'DELETE', path: `/keys/${id}` });
  }
}

/** Start a worker, and replace it if it is killed. The service retries its jobs. */
function startWorker(key) {
  const env = { ...process.env, YARDMASTER_API_KEY: key, YARDMASTER_SPACE: space };
  const worker = fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), { env });
  workers.add(worker);
  worker.once('exit', (code, killedBy) => {
    workers.delete(worker);
    if (signal.aborted) return;
    if (code) return over.abort(new Error(`Worker ${worker.pid} failed with the exit code ${code}`));
    print(`Worker ${worker.pid} has ended (${killedBy ?? 'exit code 0'}), starting another`);
    startWorker(key);
  });
}

async function createJobs(files) {
  const middle = Math.floor(files.length / 2);
  const jobs = files.map((path, i) => ({
    name: 'checksum',
    payload: { path: resolve(path), killsWorker: options.killOne && i === middle },
    // The service retries a job after 5 s without a heartbeat, and after a day ends the jobs that a stopped run leaves.
    options: { timeout: '5s', startWithin: '1d' },
  }));
  const created = [];
  // 100 at a time, because a body has at most 1 MiB and a path up to 4 KiB.
  while (jobs.length > 0) created.push(...(await client.createMany(jobs.splice(0, 100), { signal })));
  return created;
}

/** Print the checksum of each file in order, or why it is missing. @returns the printed lines */
async function collect(files, jobs) {
  const lines = [];
  for (const [i, job] of jobs.entries()) {
    try {
      lines.push(sumLine(files[i], await job.result({ signal })));
      process.stdout.write(lines.at(-1));
    } catch (error) {
      if (error.code !== 'JOB_DEAD' && error.code !== 'JOB_KILLED') throw error;
      print(`${files[i]}: ${error.message} (job ${job.id})`);
    }
  }
  print(`${lines.length} of ${files.length} files have a checksum`);
  return lines;
}

/** Format a line like `sha256sum`: it starts with a backslash if a character of the path is escaped. */
function sumLine(path, { sha256 }) {
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${escaped === path ? '' : '\\'}${sha256}  ${escaped}\n`;
}
