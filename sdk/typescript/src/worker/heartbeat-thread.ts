// A thread that sends the heartbeats of all running jobs of a worker in one call. Because it has its own event loop, a
// handler that blocks the main one keeps its job.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { Backoff, pause } from '../backoff.js';
import { viaHttp } from '../client/http.js';
import { Target } from '../client/transport.js';
import { abortReasonOf, refusalIn, YardmasterError } from '../errors.js';
import type { Settled } from '../wire.generated.js';
import type { FromThread, HeartbeatData, SentRefusal, ToThread } from './heartbeat-messages.js';
import { failureIn, MOST_OUTCOMES, settle } from './settle.js';

const MOST_INTERVAL_MS = 60_000;
const RESPONSE_MS = { least: 2_000, most: 10_000 };
const BLOCKED_MS = 5_000;
const LOOK_MS = 500;
/** A lost heartbeat is retried within this time, unless the key is rate-limited. */
const MOST_WAIT_MS = 5_000;

interface Job {
  jobId: string;
  deliveryToken: string;
  intervalMs: number;
  dueAt: number;
}

const { target: fields, turns, writesWarnings } = workerData as HeartbeatData;
const target = new Target(fields, viaHttp);
const jobs = new Map<number, Job>();
let timer: NodeJS.Timeout | undefined;
/** When the timer fires. */
let timedFor = Number.POSITIVE_INFINITY;
let isBeating = false;
let isDueNow = false;

const report = (message: FromThread) => parentPort?.postMessage(message);

const sent = ({ code, message, status, jobStatus }: YardmasterError): SentRefusal => ({
  code,
  message,
  status,
  jobStatus,
});

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'start') {
    const { key, jobId, deliveryToken, timeoutSeconds } = message;
    const intervalMs = Math.min((timeoutSeconds * 1_000) / 3, MOST_INTERVAL_MS);
    const dueAt = performance.now() + intervalMs;
    jobs.set(key, { jobId, deliveryToken, intervalMs, dueAt });
    if (dueAt < timedFor) schedule(dueAt);
  } else if (message.type === 'end') jobs.delete(message.key);
  else if (isBeating) isDueNow = true;
  else void beat();
});

/** Set the timer, unless heartbeats are being sent. Without jobs, the next job sets it. */
function schedule(at: number): void {
  if (isBeating) return;
  clearTimeout(timer);
  timedFor = at;
  if (at < Number.POSITIVE_INFINITY) timer = setTimeout(beatIfDue, Math.max(0, at - performance.now()));
}

/** Send heartbeats, unless the job that was due has ended. */
function beatIfDue(): void {
  const first = firstDue();
  if (first <= performance.now() + 1) void beat();
  else schedule(first);
}

const firstDue = () =>
  [...jobs.values()].reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY);

async function beat(): Promise<void> {
  isBeating = true;
  clearTimeout(timer);
  const backoff = new Backoff();
  do {
    isDueNow = false;
    try {
      const keys = [...jobs.keys()];
      for (let from = 0; from < keys.length; from += MOST_OUTCOMES)
        await beatSome(keys.slice(from, from + MOST_OUTCOMES));
    } catch (error) {
      if (error instanceof YardmasterError && error.isOfKey) report({ type: 'keyRefused', refusal: sent(error) });
      const shortest = [...jobs.values()].reduce((least, { intervalMs }) => Math.min(least, intervalMs), MOST_WAIT_MS);
      const waitMs = backoff.next(error);
      const isLimited = error instanceof YardmasterError && error.code === 'RATE_LIMITED'; // Any earlier call is refused.
      await pause(isLimited ? waitMs : Math.min(waitMs, shortest / 2));
      isDueNow = jobs.size > 0; // Retry a lost heartbeat soon instead of when the next one is due.
    }
  } while (isDueNow);
  isBeating = false;
  schedule(firstDue());
}

async function beatSome(keys: number[]): Promise<void> {
  const known = keys.flatMap((key) => {
    const job = jobs.get(key);
    return job === undefined ? [] : [{ key, job }];
  });
  if (known.length === 0) return;
  const outcomes = known.map(({ job: { jobId, deliveryToken } }) => ({
    jobId,
    deliveryToken,
    action: 'keepalive' as const,
  }));
  const shortest = Math.min(...known.map(({ job }) => job.intervalMs));
  const sentAt = performance.now();
  const responseMs = Math.min(Math.max(shortest, RESPONSE_MS.least), RESPONSE_MS.most);
  const entries = await settle(target, outcomes, undefined, responseMs);
  for (const [i, { key, job }] of known.entries()) {
    job.dueAt = sentAt + job.intervalMs;
    const entry = entries[i] as Settled;
    const refusal = entry.success ? null : refusalIn(entry);
    if (refusal === null || (abortReasonOf(refusal) === null && !refusal.isOfKey)) continue;
    if (jobs.delete(key)) report({ type: 'refused', key, refusal: sent(refusal) });
  }
  const failure = entries.map(failureIn).find((each) => each !== null);
  if (failure) throw failure;
}

let turn = Atomics.load(turns, 0);
let turnedAt = performance.now();
let isReported = false;
setInterval(() => {
  const now = Atomics.load(turns, 0);
  if (now !== turn) {
    turn = now;
    turnedAt = performance.now();
    isReported = false;
  } else if (!isReported && jobs.size > 0 && performance.now() - turnedAt > BLOCKED_MS) {
    isReported = true;
    const jobIds = [...jobs.values()].map(({ jobId }) => jobId);
    if (writesWarnings) writeSync(2, `yardmaster: a handler is blocking the event loop: ${jobIds.join(', ')}\n`);
    report({ type: 'blocked', jobIds });
  }
}, LOOK_MS);
