// node load.mjs options: creates and polls at even times, works on what comes, and prints how long everything took.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client.mjs';
import { atEvenRate } from '../even-rate.mjs';
import { now } from '../processes.mjs';
import { createTimes } from './times.mjs';
import { watchJobs } from './watched.mjs';

const { url, gatewayUrl, key, rate, seconds, spaces, pollEveryMs, emptyPollEveryMs, watchedJobs, reportEveryMs } =
  JSON.parse(process.argv[2]);

/** This process compiles its code, too. */
const WARM_UP_MS = 3_000;
/** Polls go on for the jobs of the last creates. */
const DRAIN_MS = 3_000;
const POLL_COUNT = 50;

const { call, close } = createClient({ url, key, connections: 64 });
const payload = { text: 'x'.repeat(185) };
const createdAt = new Map();
const tally = { created: 0, done: 0, failed: 0, firstFaults: [] };
const streams = await watchJobs({ call, gatewayUrl, key, count: watchedJobs });
const from = now();
const times = createTimes({ from: from + WARM_UP_MS, to: from + WARM_UP_MS + seconds * 1000 });
let lastDoneAt = from;

/**
 * A call that counts from `dueAt`.
 *
 * @param name what it counts as, or a function of the answer that tells; null for nothing
 * @returns the body, or null when it was refused
 */
async function timed(name, dueAt, path, body) {
  times.add('load late', dueAt, now());
  const { status, body: answer } = await call('POST', path, body);
  if (status < 300) {
    times.add(typeof name === 'function' ? name(answer) : name, dueAt, now());
    return answer;
  }
  tally.failed++;
  if (tally.firstFaults.length < 5) tally.firstFaults.push(`${path}: ${status} ${JSON.stringify(answer)}`);
  return null;
}

async function create(n, dueAt) {
  createdAt.set(n, dueAt);
  tally.created++;
  await timed('create → answer', dueAt, `/spaces/latency-${n % spaces}/jobs`, {
    name: 'work',
    payload: { ...payload, n },
  });
}

async function work({ id, payload: { n } }) {
  times.add('create → handed out', createdAt.get(n), now());
  createdAt.delete(n);
  // Each call is due when the one before it is answered.
  await timed('ack → answer', now(), `/jobs/${id}/ack`);
  await timed('progress → answer', now(), `/jobs/${id}/progress`, { percent: 50, message: 'half' });
  await timed('complete → answer', now(), `/jobs/${id}/complete`, { result: { ok: true } });
  tally.done++;
  lastDoneAt = now();
}

async function poll(n, dueAt) {
  const name = ({ jobs }) => (jobs.length > 0 ? 'poll with jobs → answer' : null);
  const answer = await timed(name, dueAt, `/spaces/latency-${n % spaces}/jobs/poll`, { count: POLL_COUNT });
  await Promise.all((answer?.jobs ?? []).map(work));
}

const pollEmpty = (_, dueAt) =>
  timed('empty poll → answer', dueAt, '/spaces/latency-empty/jobs/poll', { count: POLL_COUNT });

/** What is under way; a failure to call at all ends the run. */
const open = new Set();
const begin = (act) => (n, dueAt) => {
  const one = act(n, dueAt).finally(() => open.delete(one));
  open.add(one);
};

const loadSeconds = WARM_UP_MS / 1000 + seconds;
const rateOf = (everyMs, count) => (count * 1000) / everyMs;
await Promise.all([
  atEvenRate({ from, rate, seconds: loadSeconds }, begin(create)),
  atEvenRate({ from, rate: rateOf(pollEveryMs, spaces), seconds: loadSeconds + DRAIN_MS / 1000 }, begin(poll)),
  atEvenRate({ from, rate: rateOf(emptyPollEveryMs, 1), seconds: loadSeconds }, begin(pollEmpty)),
  atEvenRate({ from, rate: rateOf(reportEveryMs, watchedJobs), seconds: loadSeconds }, begin(streams.report(timed))),
]);
while (open.size > 0) await Promise.race(open);
await delay(500);
const { received, cpuMs: watchersCpuMs } = await streams.end();
for (const { sentAt, at } of received) times.add('progress → socket', sentAt, at);
close();

const { user, system } = process.cpuUsage();
process.stdout.write(
  JSON.stringify({
    ...tally,
    notDone: tally.created - tally.done,
    messagesMissing: streams.sent() - received.length,
    jobsPerSecond: tally.done / ((lastDoneAt - from) / 1000),
    times: times.figures(),
    loadMs: loadSeconds * 1000,
    cpuMs: { load: (user + system) / 1000, watchers: watchersCpuMs },
  }),
);
