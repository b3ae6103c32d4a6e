// A worker that leads jobs through their lives at an even rate, and counts.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../http.mjs';
import { atEvenRate, now, serve } from '../worker.mjs';
import { APART, ENDS, kindOf, requestOf, WORK } from './lives.mjs';
import { createStreams } from './streams.mjs';

/** More jobs that are not done than this, and the machine is too slow for the rate. */
const MOST_OPEN = 20_000;

const tally = { calls: 0, failed: 0, faults: [], created: 0, completed: 0, dead: 0, killed: 0, lifeMs: 0 };
const streamTally = { opened: 0, messages: 0, toTheEnd: 0, ends: 0, faults: [] };
/** Given with the command: the API's client, where streams are opened, and spaces. */
let client;
let streams;
let spaces;
let receiverUrl;

/** Jobs that are not at their end, by number: when they were created and how they shall end. */
const open = new Map();
/** Numbers of jobs whose callback has not come. */
const owed = new Set();

/** A call that must succeed; its body. */
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

/** Take the next job of a space, whichever life made it, and lead it. */
async function workIn(space) {
  const { jobs } = await must('POST', `/spaces/${space}/jobs/poll`, {});
  // There are as many polls as jobs that became pending, each after one.
  if (jobs.length === 0) throw new Error(`nothing to do in ${space}`);
  const [job] = jobs;
  await must('POST', `/jobs/${job.id}/ack`);
  if ((await WORK[job.payload.kind](must, job)) === 'again') await workIn(space);
  else ended(job.payload.n);
}

async function live(n) {
  const kind = kindOf(n);
  const space = spaces[n % spaces.length];
  const isApart = kind in APART;
  const place = isApart ? `apart-${space}` : space;
  // Before the call: another life's worker may have the job before this one has its response.
  open.set(n, { createdAt: now(), ends: ENDS[kind] });
  if (kind === 'calledBack') owed.add(n);
  const job = await must('POST', `/spaces/${place}/jobs`, requestOf(kind, n, `${receiverUrl}/${n}`));
  tally.created++;
  // A watcher that is to see the end must be there before it.
  if (kind === 'plain' && n % 2 === 0) await streams.job(job.id, n);
  if (!isApart) return workIn(place);
  await APART[kind](must, job, n);
  ended(n);
}

/** Start a server that receives callbacks: each is then owed no more. */
async function startReceiver() {
  const receiver = http.createServer((request, response) => {
    owed.delete(Number(request.url.slice(1)));
    request.resume();
    response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  receiverUrl = `http://127.0.0.1:${receiver.address().port}`;
  return receiver;
}

/** Lead jobs through their lives; milliseconds for which they were begun. */
async function leadAll({ rate, seconds }) {
  const lives = new Set();
  const began = now();
  await atEvenRate({ rate, seconds }, (n) => {
    if (lives.size > MOST_OPEN) throw new Error(`this machine is too slow for ${rate} jobs/s`);
    const one = live(n).catch((error) => tally.faults.push(error.message));
    lives.add(one);
    void one.finally(() => lives.delete(one));
  });
  const elapsedMs = now() - began;
  await Promise.all(lives);
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
    const elapsedMs = await leadAll(options);
    for (let waited = 0; owed.size > 0 && waited < 50; waited++) await delay(200);
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
      callbacksMissing: owed.size,
      ...ofFaults(faults),
      streams: { ...streamCounts, ...ofFaults(streamFaults) },
    };
  },
});
