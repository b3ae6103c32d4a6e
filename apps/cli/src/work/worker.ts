import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClaimedJob, LIMITS, type PolledJobs } from '@yardmaster/protocol';
import type { Io } from '../command.js';
import { type ExitCode, type Outcome, WORK_EXIT } from '../exit-codes.js';
import { call, jsonOf, Refused } from '../service/call.js';
import { Connectivity } from '../service/connectivity.js';
import { spacePath } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { type AttemptSettings, runAttempt } from './attempt.js';
import { isPassing } from './job-calls.js';
import { KILL_AFTER_MS, killAllPrograms } from './job-program.js';

/** Parsed command line of `work`. */
export interface WorkRequest extends AttemptSettings {
  spaceId: string;
  /** Names of jobs to claim; empty for any. */
  names: string[];
  /** Jobs at the same time. */
  concurrency: number;
  /** How long running jobs may take after the first signal. */
  drainSeconds: number;
  workerId: string;
}

/** How long the last calls about a job may take once its program has ended, in milliseconds. */
const LAST_CALLS_MS = 10_000;

/** The same after the second signal, when a person waits. */
const HURRIED_CALLS_MS = 2_000;

/**
 * Claim jobs and run a program for each, until a signal.
 *
 *   polling ── SIGTERM: no more polls ──▶ draining ── all jobs have ended ──────────────────────▶ returns
 *                                            └─ --drain is over: end programs, release their jobs ──▶ returns
 *                                            └─ second signal: kill programs, release their jobs ───▶ returns
 *
 * A refusal that concerns every job, such as a revoked key, drains the worker too.
 */
export async function work(request: WorkRequest, io: Io): Promise<Outcome> {
  const { first, second } = io.stopSignals();
  process.once('exit', killAllPrograms); // No program must outlive the worker, however it ends.
  const fatal = new AbortController();
  const release = new AbortController();
  const giveUp = new AbortController();
  const stop = AbortSignal.any([first, fatal.signal]);
  const running = new Set<Promise<void>>();
  let unreported = 0;

  const start = (job: ClaimedJob) => {
    const attempt = runAttempt(job, {
      request,
      io,
      isStopping: stop.aborted,
      release: release.signal,
      kill: second,
      giveUp: giveUp.signal,
      onFatal: (sentence) => fatal.abort(sentence),
    }).then((isReported) => {
      running.delete(attempt);
      if (!isReported) unreported++;
    });
    running.add(attempt);
  };

  await claim({ request, io, running, stop, start, onFatal: (sentence) => fatal.abort(sentence) });
  const drained = Promise.all(running);
  if (running.size > 0) io.err.write(`stopping: ${running.size} running, no more polls\n`);
  const over = new AbortController();
  const waiting = AbortSignal.any([second, over.signal]);
  await Promise.race([drained, sleep(request.drainSeconds * 1000, waiting)]);
  over.abort(); // Otherwise the timer would keep the process from ending.
  release.abort();
  const lastCallsMs = second.aborted ? HURRIED_CALLS_MS : KILL_AFTER_MS + LAST_CALLS_MS;
  const timers = [setTimeout(() => giveUp.abort(), lastCallsMs)];
  const hurry = () => timers.push(setTimeout(() => giveUp.abort(), HURRIED_CALLS_MS));
  second.addEventListener('abort', hurry);
  await drained;
  for (const timer of timers) clearTimeout(timer);
  second.removeEventListener('abort', hurry);
  if (fatal.signal.aborted) return { exit: WORK_EXIT.refused, sentence: String(fatal.signal.reason) };
  if (unreported > 0) {
    const sentence = `the service may not know the end of ${unreported} job${unreported > 1 ? 's' : ''}`;
    return { exit: exitOf(second, WORK_EXIT.unreported), sentence };
  }
  return { exit: exitOf(second, WORK_EXIT.drained), sentence: null };
}

interface ClaimOptions {
  request: WorkRequest;
  io: Io;
  running: Set<Promise<void>>;
  stop: AbortSignal;
  start: (job: ClaimedJob) => void;
  onFatal: (sentence: string) => void;
}

/** Poll for as many jobs as there is room for, until the signal. */
async function claim({ request, io, running, stop, start, onFatal }: ClaimOptions): Promise<void> {
  const { service, spaceId, names, concurrency, workerId } = request;
  const connectivity = new Connectivity(service, (sentence) => io.err.write(`${sentence}\n`));
  const stopped = aborted(stop);
  while (!stop.aborted) {
    const room = concurrency - running.size;
    if (room === 0) {
      await Promise.race([...running, stopped]);
      continue;
    }
    const body = { types: names, count: Math.min(room, LIMITS.pollMax), waitSeconds: LIMITS.waitSecondsMax, workerId };
    try {
      const reply = await call(
        { method: 'POST', path: spacePath(spaceId, 'jobs/poll'), body },
        {
          service,
          signal: stop,
          isPassing,
          onLost: (reason) => connectivity.markLost('poll', reason),
          onReply: () => connectivity.markConnected('poll'),
        },
      );
      const { jobs } = jsonOf<PolledJobs>(reply);
      if (!Array.isArray(jobs)) throw new Refused('the response is not one to a poll');
      for (const job of jobs) start(job);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Refused)) throw error;
      onFatal(printable(error.message));
    }
  }
}

/** Return the exit code after a second signal; otherwise the given one. */
function exitOf(second: AbortSignal, otherwise: ExitCode): ExitCode {
  if (!second.aborted) return otherwise;
  return second.reason === 'SIGINT' ? WORK_EXIT.interrupted : WORK_EXIT.terminated;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

const sleep = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => undefined);
