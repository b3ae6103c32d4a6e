// node load.mjs options: leads jobs through their lives at an even rate, and prints what it counted.
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client.mjs';
import { atEvenRate } from '../even-rate.mjs';
import { now } from '../processes.mjs';
import { APART, ENDS, kindOf, requestOf, WORK } from './lives.mjs';
import { createStreams } from './streams.mjs';

const { url, gatewayUrl, key, rate, seconds, spaces } = JSON.parse(process.argv[2]);

/** More jobs that are not done than this, and the machine is too slow for the rate. */
const MOST_OPEN = 20_000;

const { call, close } = createClient({ url, key, connections: 24 });
const tally = { calls: 0, failed: 0, faults: [], created: 0, completed: 0, dead: 0, killed: 0, lifeMs: 0 };
const streamTally = { opened: 0, messages: 0, toTheEnd: 0, ends: 0, faults: [] };
const streams = createStreams({ gatewayUrl, key, tally: streamTally });

/** Jobs that are not at their end, by number: when they were created and how they shall end. */
const open = new Map();
/** Numbers of jobs whose callback has not come. */
const owed = new Set();

/** A call that must succeed; its body. */
async function must(method, path, body) {
  tally.calls++;
  const { status, body: answer } = await call(method, path, body);
  if (status < 300) return answer;
  tally.failed++;
  throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
}

function ended(n) {
  const { createdAt, ends } = open.get(n);
  open.delete(n);
  tally[ends]++;
  tally.lifeMs += now() - createdAt;
}

/** Take the next job of a space, whosever life it is, and lead it. */
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
  // Before the call: another life's worker may have the job before this one has its answer.
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

const receiver = http.createServer((request, response) => {
  owed.delete(Number(request.url.slice(1)));
  request.resume();
  response.writeHead(204).end();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${receiver.address().port}`;

const enough = new AbortController();
const watched = streams.spaces(spaces, enough.signal);
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
for (let waited = 0; owed.size > 0 && waited < 50; waited++) await delay(200);
enough.abort();
await watched;
await delay(500); // The last sockets close.
receiver.close();
receiver.closeAllConnections();
close();

const { lifeMs, faults, ...counts } = tally;
const ends = tally.completed + tally.dead + tally.killed;
process.stdout.write(
  JSON.stringify({
    ...counts,
    jobsPerSecond: tally.created / (elapsedMs / 1000),
    callsPerSecond: tally.calls / (elapsedMs / 1000),
    meanLifeMs: lifeMs / ends,
    lost: open.size,
    callbacksMissing: owed.size,
    faultCount: faults.length,
    firstFaults: faults.slice(0, 5),
    streams: { ...streamTally, faults: streamTally.faults.slice(0, 5), faultCount: streamTally.faults.length },
  }),
);
