// A worker that creates jobs of all kinds at an even rate, works on them, and counts.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../load/http.mjs';
import { atEvenRate, now, serve } from '../load/worker.mjs';
import { CLAIMED_BY_ID, ENDS, kindOf, requestOf, WORK } from './kinds.mjs';
import { createStreams } from './streams.mjs';

/** With more unfinished jobs than this the machine is too slow for the rate. */
const MOST_OPEN = 20_000;

const tally = { calls: 0, failed: 0, faults: [], created: 0, completed: 0, dead: 0, killed: 0, lifeMs: 0 };
const streamTally = { opened: 0, messages: 0, toTheEnd: 0, ends: 0, faults: [] };
/** The API's client, the streams, the spaces and the URL of the receiver, which the options determine. */
let client;
let streams;
let spaces;
let receiverUrl;

/** Jobs that have not ended, by number: when they were created and how they must end. */
const open = new Map();
/** Numbers of jobs whose callback has not been received. */
const pendingCallbacks = new Set();

/** Make a call that must succeed. @returns the body of its response */
async function must(method, path, body) {
  tally.calls++;
  const { status, body: returned } = await client.call(method, path, body);
  if (status < 300) return returned;
  tally.failed++;
  throw new Error(`${method} ${path}: ${status} ${JSON.stringify(returned)}`);
}

function ended(n) {
  const { createdAt, ends } = open.get(n);
  open.delete(n);
  tally[ends]++;
  tally.lifeMs += now() - createdAt;
}

/** Poll a space, and work on the returned job, of any kind. */
async function workIn(space) {
  const { jobs } = await must('POST', `/spaces/${space}/jobs/poll`, {});
  // There are as many polls as jobs that became pending, each after one.
  if (jobs.length === 0) throw new Error(`nothing to do in ${space}`);
  const [job] = jobs;
  await must('POST', `/jobs/${job.id}/ack`);
  if ((await WORK[job.payload.kind](must, job)) === 'again') await workIn(space);
  else ended(job.payload.n);
}

async function runJob(n) {
  const kind = kindOf(n);
  const space = spaces[n % spaces.length];
  const isClaimedById = kind in CLAIMED_BY_ID;
  const place = isClaimedById ? `claimed-${space}` : space;
  // Add the job before the call, because another worker may get the job before the response arrives.
  open.set(n, { createdAt: now(), ends: ENDS[kind] });
  if (kind === 'calledBack') pendingCallbacks.add(n);
  const job = await must('POST', `/spaces/${place}/jobs`, requestOf(kind, n, `${receiverUrl}/${n}`));
  tally.created++;
  // The watcher must connect before the end.
  if (kind === 'plain' && n % 2 === 0) await streams.job(job.id, n);
  if (!isClaimedById) return workIn(place);
  await CLAIMED_BY_ID[kind](must, job, n);
  ended(n);
}

/** Start a server that receives callbacks, and removes their jobs from those that wait for one. */
async function startReceiver() {
  const receiver = http.createServer((request, response) => {
    pendingCallbacks.delete(Number(request.url.slice(1)));
    request.resume();
    response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  receiverUrl = `http://127.0.0.1:${receiver.address().port}`;
  return receiver;
}

/** Create jobs and work on them. @returns milliseconds during which jobs were created */
async function runAll({ rate, seconds }) {
  const running = new Set();
  const began = now();
  await atEvenRate({ rate, seconds }, (n) => {
    if (running.size > MOST_OPEN) throw new Error(`this machine is too slow for ${rate} jobs/s`);
    const one = runJob(n).catch((error) => tally.faults.push(error.message));
    running.add(one);
    void one.finally(() => running.delete(one));
  });
  const elapsedMs = now() - began;
  await Promise.all(running);
  return elapsedMs;
}

serve({
  async run({ url, gatewayUrl, key, ...options }) {
    client = createClient({ url, key, connections: 24 });
    streams = createStreams({ gatewayUrl, key, tally: streamTally });
    spaces = options.spaces;
    const receiver = await startReceiver();
    const enough = new AbortController();
    const watched = streams.spaces(spaces, enough.signal);
    const elapsedMs = await runAll(options);
    for (let waited = 0; pendingCallbacks.size > 0 && waited < 50; waited++) await delay(200);
    enough.abort();
    await watched;
    await delay(500); // The last sockets close.
    receiver.close();
    receiver.closeAllConnections();
    client.close();

    const { lifeMs, faults, ...counts } = tally;
    const { faults: streamFaults, ...streamCounts } = streamTally;
    const ofFaults = (all) => ({ faultCount: all.length, firstFaults: all.slice(0, 5) });
    return {
      ...counts,
      jobsPerSecond: tally.created / (elapsedMs / 1000),
      meanLifeMs: lifeMs / (tally.completed + tally.dead + tally.killed),
      lost: open.size,
      callbacksMissing: pendingCallbacks.size,
      ...ofFaults(faults),
      streams: { ...streamCounts, ...ofFaults(streamFaults) },
    };
  },
});
