// One worker process, forked by the supervisor:
//
//   poll → report the jobs to the supervisor → each job: ack, report progress, complete or fail, report → poll …
//
// It may be killed at any moment. The supervisor knows its jobs and fails them.

import { setTimeout as sleep } from 'node:timers/promises';
import { checksum } from './checksum.mjs';
import { createClient, pauseMs, Refusal, Unreachable } from './client.mjs';
import { createJobLog } from './job-log.mjs';

const { YARDMASTER_URL: url, YARDMASTER_API_KEY: key, CHECKSUMS_SPACE: space, CHECKSUMS_TYPES } = process.env;
const types = CHECKSUMS_TYPES.split(',');
const call = createClient({ url, key });

/** Jobs of one poll. They run side by side, so that none waits for its ack behind a large file. */
const BATCH = 4;

/** The supervisor's latest round, see `leftovers.mjs`. */
let round = 0;
process.on('message', (message) => {
  round = message.round;
});
// The supervisor wants this process to end, or has ended itself.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches all processes of the terminal, but the supervisor decides when this process ends.
process.on('SIGINT', () => {});

try {
  await work();
} catch (error) {
  // The process's end is the report: the supervisor fails its jobs and starts another in its place.
  process.stderr.write(`Worker ${process.pid}: ${error.message}\n`);
  process.exit(1);
}

async function work() {
  for (let emptyPolls = 0; ; ) {
    const asOf = round;
    const { jobs } = await call('POST', `/spaces/${space}/jobs/poll`, { count: BATCH, types });
    if (jobs.length === 0) {
      await report({ type: 'idle', round: asOf });
      emptyPolls += 1;
      await sleep(pauseMs(emptyPolls, { first: 50, max: 2_000 }));
    } else {
      emptyPolls = 0;
      // Send this before the first ack. Once it is written, it arrives even if this process is killed on the next line.
      await report({
        type: 'claimed',
        jobs: jobs.map(({ id, attemptNumber }) => ({ id, attemptsBefore: attemptNumber })),
      });
      await Promise.all(jobs.map(async (job) => report({ type: 'done', id: job.id, outcome: await attempt(job) })));
    }
  }
}

/** Send a message to the supervisor. A closed channel means the same as 'disconnect', and may be noticed earlier. */
function report(message) {
  return new Promise((resolve) => process.send(message, (error) => (error ? process.exit() : resolve())));
}

/**
 * Run one attempt of a job.
 *
 * @returns `completed`, `failed` (it will be retried), `dead`, or `dropped` (the job is no longer ours: killed, timed
 *   out, or failed by the supervisor)
 */
async function attempt(job) {
  const log = createJobLog({ call, jobId: job.id, source: `worker ${process.pid}` });
  try {
    if (!(await ack(job))) return 'dropped';
    const { path } = job.payload;
    log.info(`reading ${path}`, { attempt: job.attemptNumber + 1 });
    const result = await checksum(path, (percent, message) => {
      log.debug(message);
      return post(job, 'progress', { percent, message });
    });
    log.info(`sha256 ${result.sha256}`, { size: result.size });
    // Send the logs before the end of the job, because a client that follows them stops at the end.
    await log.flush();
    return (await complete(job, result)) ? 'completed' : 'dropped';
  } catch (error) {
    if (isNoLongerOurs(error)) return 'dropped';
    if (error instanceof Refusal || error instanceof Unreachable) throw error;
    log.error(error.message, { code: error.code });
    await log.flush();
    return fail(job, error.message);
  }
}

function post(job, verb, body) {
  return call('POST', `/jobs/${job.id}/${verb}`, body);
}

/** 409: not running any more, or killed (JOB_KILLED). 404: its retention is over. Either way, stop. */
function isNoLongerOurs(error) {
  return error instanceof Refusal && (error.status === 409 || error.status === 404);
}

/** @returns whether the attempt is ours to run */
async function ack(job) {
  try {
    await post(job, 'ack');
    return true;
  } catch (error) {
    // If it is our own ack that already took effect, the job runs now and this is its next attempt. If another worker
    // has claimed it meanwhile, both read the same file, and the second to complete is refused.
    return tookEffect(error, job, ({ status, attemptNumber }) => {
      return status === 'running' && attemptNumber === job.attemptNumber + 1;
    });
  }
}

/** @returns whether the result is stored */
async function complete(job, result) {
  try {
    await post(job, 'complete', { result });
    return true;
  } catch (error) {
    return tookEffect(error, job, ({ status }) => status === 'completed');
  }
}

/** Read the job, to find out whether a repeated request was refused because the first one took effect. */
async function tookEffect(error, job, hasEffect) {
  if (!isNoLongerOurs(error) || !error.repeated) throw error;
  return hasEffect(await call('GET', `/jobs/${job.id}`));
}

async function fail(job, message) {
  try {
    await post(job, 'fail', { error: message });
  } catch (error) {
    // A repeated fail is refused like a late one, also if the first took effect; the table shows the job's status.
    if (!isNoLongerOurs(error)) throw error;
    if (!error.repeated) return 'dropped';
  }
  return job.attemptNumber + 1 > job.maxRetries ? 'dead' : 'failed';
}
