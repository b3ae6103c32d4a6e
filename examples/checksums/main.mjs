// Compute the checksums of a folder with processes that may crash. The files become jobs in a space of the service, and
// workers claim them. See README.md.

import { writeFile } from 'node:fs/promises';
import { assertReachable, createClient } from './client.mjs';
import { findFiles } from './files.mjs';
import { inParallel } from './in-parallel.mjs';
import { DEFAULT_URL, readOptions, USAGE, UsageError } from './options.mjs';
import { createJobs } from './producer.mjs';
import { createProgress } from './progress.mjs';
import { Supervisor } from './supervisor.mjs';
import { rowsOf, sha256sumLine, tableOf, totalsOf } from './table.mjs';

const A_DAY_MS = 24 * 60 * 60 * 1000;

const print = (text) => process.stdout.write(`${text}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) print(USAGE);
  else process.exitCode = await run(options);
} catch (error) {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${error.message}\n${isUsage ? `\n${USAGE}` : ''}`);
  // Do not set exitCode instead, because creates may still be under way, and no code waits for them.
  process.exit(isUsage ? 2 : 1);
}

/** @returns the exit code */
async function run({ folder, output, ...options }) {
  await assertReachable(options.url);
  const call = createClient(options);
  const { files, unreadable } = await findFiles(folder);
  for (const fault of unreadable) process.stderr.write(`Skipped: ${fault}\n`);

  const began = performance.now();
  const jobs = await work({ call, files, ...options });
  const seconds = (performance.now() - began) / 1000;

  const rows = rowsOf(files, jobs);
  await addErrors(call, rows);
  print(`${tableOf(rows)}\n\n${totalsOf(rows, seconds)}`);

  const completed = rows.filter(({ state }) => state === 'completed');
  if (output !== undefined) await writeFile(output, completed.map(sha256sumLine).join(''));
  return completed.length === rows.length && unreadable.length === 0 ? 0 : 1;
}

/** @returns every job of the space, ended */
async function work({ call, files, space, url, key, workers, killOne }) {
  const progress = createProgress(process.stdout, files.length);
  const workerKey = await createWorkerKey(call, space);
  const supervisor = new Supervisor({
    call,
    space,
    workers,
    env: { YARDMASTER_URL: url, YARDMASTER_API_KEY: workerKey.key, CHECKSUMS_SPACE: space },
    killOneAt: killOne ? Math.floor(files.length / 2) : undefined,
    note: progress.note,
    // A space that was used before, or a create that was sent again, has more jobs than files.
    onProgress: () => progress.update(Math.min(supervisor.settled.size, files.length)),
  });
  const cleanUp = once(async () => {
    await supervisor.stop();
    progress.clear();
    await revoke({ url, key, id: workerKey.id });
  });
  onInterrupt(cleanUp);

  progress.note(`${files.length} files, ${workers} workers, space ${space}`);
  progress.note(`Watch it: npx yardmaster watch --space ${space}${url === DEFAULT_URL ? '' : ` --url ${url}`}`);
  try {
    supervisor.start();
    const created = createJobs({ call, space, files }).then(() => supervisor.allCreated());
    const [jobs] = await Promise.all([supervisor.ended, created]);
    return jobs;
  } finally {
    await cleanUp();
  }
}

/**
 * Create the key of the workers, for jobs of this space only. It expires, in case this process is killed before it
 * revokes the key.
 */
function createWorkerKey(call, spaceId) {
  return call('POST', '/keys', {
    name: 'checksums workers',
    scopes: ['jobs:worker'],
    spaceId,
    expiresAt: new Date(Date.now() + A_DAY_MS).toISOString(),
  });
}

async function revoke({ url, key, id }) {
  // Retry only for a short time, because the key expires by itself.
  const call = createClient({ url, key, retryForMs: 3_000 });
  await call('DELETE', `/keys/${id}`).catch((error) => {
    process.stderr.write(`The workers' key ${id} is not revoked: ${error.message}\n`);
  });
}

/**
 * Return a function that runs `act` only once. A Ctrl-C may come while the end of the run cleans up already; both then
 * wait for the same clean-up.
 */
function once(act) {
  let outcome;
  return () => {
    outcome ??= act();
    return outcome;
  };
}

/** Ctrl-C ends the workers first; a second one does not wait for anything, and the workers notice by themselves. */
function onInterrupt(cleanUp) {
  let interrupted = false;
  const stop = async (_signal, number) => {
    if (!interrupted) {
      interrupted = true;
      await cleanUp();
    }
    process.exit(128 + number);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

/** Add the error of each dead job, which only its history contains. */
async function addErrors(call, rows) {
  const dead = rows.filter(({ state }) => state === 'dead');
  await inParallel(dead, 8, async (row) => {
    const { events } = await call('GET', `/jobs/${row.jobId}`);
    row.error = events.findLast(({ type }) => type === 'dead')?.data.error;
  });
}
