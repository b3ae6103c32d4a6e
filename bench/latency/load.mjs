// A worker that creates and polls at a constant rate, works on the returned jobs, and measures how long everything takes.
import { createClient } from '../load/http.mjs';
import { atEvenRate, now, payloadOf, serve } from '../load/worker.mjs';
import { percentilesOf } from '../meter.mjs';

/** Time for V8 to compile the code, including that of this process, in milliseconds. */
const WARM_UP_MS = 3_000;
/** How long polls continue after the last create, whose job must still be claimed, in milliseconds. */
const DRAIN_MS = 3_000;
const POLL_COUNT = 50;
/** Long enough that no watched job times out. */
const TIMEOUT_SECONDS = 86_400;

let options;
let client;
/** IDs of running jobs with a stream each. */
const watched = [];
/** When the create of each job was due, by job number, until a worker has the job. */
const createdAt = new Map();
const counts = { created: 0, done: 0, reports: 0, failed: 0, firstFailures: [] };
/** Calls in flight. A call that cannot be sent ends the run. */
const open = new Set();
const timesOf = {};
/** Only calls due between `since` and `until` count. */
let window;

/** Record the time since something was due. */
function keep(name, dueAt) {
  if (name === null || dueAt < window.since || dueAt >= window.until) return;
  timesOf[name] ??= [];
  timesOf[name].push(now() - dueAt);
}

/**
 * Make a call that was due at a moment.
 *
 * @param name name under which to record the time, or a function of the body that returns it; null to not record it
 * @returns body of the response; null if the call was refused
 */
async function timed(name, dueAt, path, body) {
  keep('late', dueAt);
  const { status, body: returned } = await client.call('POST', path, body);
  if (status < 300) {
    keep(typeof name === 'function' ? name(returned) : name, dueAt);
    return returned;
  }
  counts.failed++;
  if (counts.firstFailures.length < 5) counts.firstFailures.push(`${path}: ${status} ${JSON.stringify(returned)}`);
  return null;
}

const spaceOf = (n) => `latency-${n % options.spaces}`;

async function create(n, dueAt) {
  createdAt.set(n, dueAt);
  counts.created++;
  const payload = { ...payloadOf(196), n };
  await timed('create', dueAt, `/spaces/${spaceOf(n)}/jobs`, { name: 'work', payload });
}

async function work({ id, payload: { n } }) {
  keep('delivered', createdAt.get(n));
  createdAt.delete(n);
  // Each call is due when the previous one has its response.
  await timed('ack', now(), `/jobs/${id}/ack`);
  await timed('progress', now(), `/jobs/${id}/progress`, { percent: 50, message: 'half' });
  await timed('complete', now(), `/jobs/${id}/complete`, { result: { ok: true } });
  counts.done++;
}

async function poll(n, dueAt) {
  const nameOf = ({ jobs }) => (jobs.length > 0 ? 'poll' : null);
  const returned = await timed(nameOf, dueAt, `/spaces/${spaceOf(n)}/jobs/poll`, { count: POLL_COUNT });
  await Promise.all((returned?.jobs ?? []).map(work));
}

const pollEmpty = (_, dueAt) => timed('emptyPoll', dueAt, '/spaces/latency-empty/jobs/poll', { count: POLL_COUNT });

async function report(n, dueAt) {
  counts.reports++;
  // The message contains the time when it was due.
  const body = { percent: 50, message: String(dueAt) };
  await timed('progress', dueAt, `/jobs/${watched[n % watched.length]}/progress`, body);
}

const begin = (act) => (n, dueAt) => {
  const one = act(n, dueAt).finally(() => open.delete(one));
  open.add(one);
};

serve({
  /** Create the watched jobs. @returns their IDs */
  async prepare(given) {
    options = given;
    client = createClient({ url: given.url, key: given.key, connections: 64 });
    while (watched.length < given.watchedJobs) {
      const request = { name: 'watched', timeoutSeconds: TIMEOUT_SECONDS };
      const { body: job } = await client.call('POST', '/spaces/watched/jobs', request);
      await client.call('POST', `/jobs/${job.id}/claim`);
      await client.call('POST', `/jobs/${job.id}/ack`);
      watched.push(job.id);
    }
    return watched;
  },
  /** Generate the load. @returns percentiles of times, and counts */
  async run() {
    const { rate, spaces, pollEveryMs, emptyPollEveryMs, reportEveryMs } = options;
    const seconds = WARM_UP_MS / 1_000 + options.seconds;
    const drained = seconds + DRAIN_MS / 1_000;
    const from = now();
    window = { since: from + WARM_UP_MS, until: from + seconds * 1_000 };
    await Promise.all([
      atEvenRate({ from, rate, seconds }, begin(create)),
      atEvenRate({ from, rate: (1_000 * spaces) / pollEveryMs, seconds: drained }, begin(poll)),
      atEvenRate({ from, rate: 1_000 / emptyPollEveryMs, seconds }, begin(pollEmpty)),
      atEvenRate({ from, rate: (1_000 * watched.length) / reportEveryMs, seconds }, begin(report)),
    ]);
    while (open.size > 0) await Promise.race(open);
    const times = Object.entries(timesOf).map(([name, all]) => [name, percentilesOf(all)]);
    const { created, done, ...others } = counts;
    return { times: Object.fromEntries(times), window, notDone: created - done, ...others };
  },
  /** End the watched jobs, and with them their streams. */
  async end() {
    for (const id of watched) await client.call('POST', `/jobs/${id}/complete`, {});
    client.close();
  },
});
