import type { Status } from '@yardmaster/protocol';
import type { Io } from '../command.js';
import { ENDED_UNSEEN, type ExitCode, exitOf, failureOf, gaveUpAfter, type Outcome } from '../exit-codes.js';
import { call } from '../service/call.js';
import { Connectivity } from '../service/connectivity.js';
import { readMessage, readProgress, readScheduledFor, type StreamMessage } from '../service/message.js';
import { isStreamToken, jobPath, type Service, type Subject } from '../service/service.js';
import { streamOf } from '../service/stream.js';
import { unlessAborted } from '../terminal/drain.js';
import type { Display } from './display.js';
import { endsAttempt } from './screen.js';

interface WatchOptions extends Pick<Io, 'waitForDrain'> {
  service: Service;
  subject: Subject;
  /** For a job: seq of the event after which to start; null for new events only. */
  since: number | null;
  /** For a space: show only jobs with all of these tags. */
  tags: string[];
  display: Display;
  /** Null for no limit. */
  timeoutSeconds: number | null;
}

/** Watch a job until it ends, or a space indefinitely, reconnecting as needed. */
export async function watch(options: WatchOptions): Promise<Outcome> {
  const { timeoutSeconds, display } = options;
  const stop = new AbortController();
  const timer = timeoutSeconds === null ? undefined : setTimeout(() => stop.abort(), timeoutSeconds * 1000);
  try {
    const ended = (await showStream(options, stop.signal)) ?? (await readEnd(options, stop.signal));
    return ended === null ? ENDED_UNSEEN : { exit: ended, sentence: null };
  } catch (error) {
    return stop.signal.aborted ? gaveUpAfter(timeoutSeconds) : failureOf(error);
  } finally {
    clearTimeout(timer);
    stop.abort(); // Cancel open requests.
    display.close();
  }
}

/** Show all messages of a stream. Returns how the job ended; null if no message shows it. */
async function showStream(options: WatchOptions, signal: AbortSignal): Promise<ExitCode | null> {
  const { service, subject, since, tags, display, waitForDrain } = options;
  // Unlike the stream of a job, that of a space can't resume where it stopped.
  const gap = subject.kind === 'space' ? '; events in the meantime are not shown' : '';
  const connectivity = new Connectivity(service, display.notice, gap);
  const onLost = (reason: string) => connectivity.markLost('stream', reason);
  const fillIn = filler(options, signal);
  let ended: ExitCode | null = null;
  for await (const raw of streamOf(service, subject, { signal, since, query: { tag: tags }, onLost })) {
    const message = readMessage(raw);
    if (message === null) continue;
    connectivity.markConnected('stream');
    display.show(message, JSON.stringify(raw));
    if (message.missed) display.warn('some events are missing, because the service no longer has them');
    ended = exitOf(message);
    if (ended === null) fillIn(message);
    const wait = waitForDrain();
    if (wait !== null) await unlessAborted(wait, signal);
  }
  return ended;
}

/** Read how a job ended if it sent no message after `--since`; null if the key may not see it. */
async function readEnd({ service, subject }: WatchOptions, signal: AbortSignal): Promise<ExitCode | null> {
  if (subject.kind === 'space' || service.token === null || isStreamToken(service)) return null;
  const message = readMessage({
    type: 'init',
    ...(await read(jobPath(subject.jobId, '', { events: 0 }), service, signal)),
  });
  return message && exitOf(message);
}

/** Message types that set or clear the progress or the due time of a job. */
const REPLACES = new Set(['init', 'progress', 'ready', 'rescheduled', 'replaced', 'requeued']);

/**
 * Return a function that, given every message, reads what an `init` with full scope lacks: the progress of a running job,
 * and the due time of a scheduled one. This makes a drawing correct from the start.
 *
 * A newer message discards what was read.
 */
function filler(
  { service, subject, display }: Pick<WatchOptions, 'service' | 'subject' | 'display'>,
  signal: AbortSignal,
) {
  let seen = 0;
  return ({ type, status }: StreamMessage): void => {
    // Other messages, such as a checkpoint, don't make it stale.
    if (REPLACES.has(type) || endsAttempt(type)) seen++;
    if (subject.kind !== 'job' || display.fillIn === undefined || type !== 'init' || isStreamToken(service)) return;
    const asOf = seen;
    void readMissing(status, service, subject.jobId, signal).then((known) => {
      if (asOf === seen && !signal.aborted) display.fillIn?.(known);
    });
  };
}

/** Read what the `init` lacks. Only running jobs have current progress; others show that of an earlier attempt. */
async function readMissing(status: Status | null, service: Service, jobId: string, signal: AbortSignal) {
  if (status === 'running') {
    const progress = readProgress((await read(jobPath(jobId, 'progress'), service, signal)).progress);
    return progress === null ? {} : { progress };
  }
  if (status !== 'scheduled') return {};
  return { scheduledFor: readScheduledFor(await read(jobPath(jobId, '', { events: 0 }), service, signal)) };
}

/** Read an object; empty if the read fails, because later messages show the state anyway. */
async function read(path: string, service: Service, signal: AbortSignal): Promise<{ progress?: unknown }> {
  try {
    return (await call(service, { path }, { signal, resendForMs: 0 })) ?? {};
  } catch {
    return {};
  }
}
