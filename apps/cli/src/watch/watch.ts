import type { Status } from '@yardmaster/protocol';
import { type ExitCode, exitOf, gaveUpAfter, type Outcome, outcomeOf } from '../exit-codes.js';
import { callJson } from '../service/call.js';
import { Connectivity } from '../service/connectivity.js';
import { type FollowOptions, follow } from '../service/follow.js';
import { readMessage, readProgress, readScheduledFor, type StreamMessage } from '../service/message.js';
import { isStreamToken, jobPath, type Service, type Subject, streamUrlOf } from '../service/service.js';
import type { Display } from './display.js';
import { endsAttempt } from './screen.js';

interface WatchOptions extends Pick<FollowOptions, 'waitForDrain'> {
  service: Service;
  subject: Subject;
  /** Seq of the event after which to begin; null for the present. */
  since: number | null;
  /** Show only jobs with all of these; of a space. */
  tags: string[];
  display: Display;
  /** Null for no limit. */
  timeoutSeconds: number | null;
}

/** Watch a job until it ends, or a space forever, over as many connections as needed. */
export async function watch({ timeoutSeconds, since, tags, ...options }: WatchOptions): Promise<Outcome> {
  const { service, subject, display } = options;
  const stop = new AbortController();
  let outcome: Outcome | null = null;
  /** How the job had ended after the latest message. */
  let ended: ExitCode | null = null;
  const finish = (because: Outcome) => {
    outcome ??= because;
    stop.abort();
  };
  const giveUp = () => finish(gaveUpAfter(timeoutSeconds));
  const timer = timeoutSeconds === null ? undefined : setTimeout(giveUp, timeoutSeconds * 1000);
  const fillIn = filler(options, stop.signal);
  // The stream of a job continues where it was, that of a space cannot.
  const gap = subject.kind === 'space' ? '; events until then are not shown' : '';
  const connectivity = new Connectivity(service, display.notice, gap);
  const position = new Position(since);

  const end = await follow({
    ...options,
    token: service.token,
    urlOf: () => streamUrlOf(service, subject, subject.kind === 'job' ? position.query : { tag: tags }),
    signal: stop.signal,
    onMessage(text) {
      const message = readMessage(text);
      if (message === null || stop.signal.aborted) return;
      connectivity.markConnected('stream');
      display.show(message, text);
      if (subject.kind === 'space') return;
      if (position.moveTo(message)) display.warn('some events are not shown, because the service has lost them');
      ended = exitOf(message);
      if (ended !== null && !position.isBeforeInit(message)) finish({ exit: ended, sentence: null });
      else fillIn(message);
    },
    onLost: (reason) => connectivity.markLost('stream', reason),
  });
  clearTimeout(timer);
  display.close();
  if (end.kind === 'ended' && ended !== null) return { exit: ended, sentence: null };
  return outcome ?? outcomeOf(end, service);
}

/** Types of messages that contain the progress or the time of a job, or after which it has none. */
const REPLACES = new Set(['init', 'progress', 'ready', 'rescheduled', 'replaced', 'requeued']);

/**
 * Make a function that gets every message, and that reads what a full-scope init does not contain: the progress of a
 * running job, and the time of a scheduled one.
 *
 * So a drawing is right from the start. What was read is shown unless a newer message came in the meantime.
 */
function filler(
  { service, subject, display }: Pick<WatchOptions, 'service' | 'subject' | 'display'>,
  signal: AbortSignal,
) {
  let seen = 0;
  return ({ type, status }: StreamMessage): void => {
    // Other messages, such as a checkpoint, do not make it out of date.
    if (REPLACES.has(type) || endsAttempt(type)) seen++;
    if (subject.kind !== 'job' || display.fillIn === undefined || type !== 'init' || isStreamToken(service)) return;
    const asOf = seen;
    void readMissing(status, service, subject.jobId, signal).then((known) => {
      if (asOf === seen && !signal.aborted) display.fillIn?.(known);
    });
  };
}

const RESPONSE_WITHIN_MS = 10_000;

/** Read what a job with this status has. One that does not run has no progress, or that of an earlier attempt. */
async function readMissing(status: Status | null, service: Service, jobId: string, signal: AbortSignal) {
  if (status === 'running') {
    const progress = readProgress((await read(jobPath(jobId, 'progress'), service, signal)).progress);
    return progress === null ? {} : { progress };
  }
  if (status !== 'scheduled') return {};
  return { scheduledFor: readScheduledFor(await read(jobPath(jobId, '', { events: 0 }), service, signal)) };
}

/** Read an object; an empty one when it cannot be read, because later messages show the state anyway. */
async function read(path: string, service: Service, signal: AbortSignal): Promise<{ progress?: unknown }> {
  try {
    return (await callJson(service, { path }, { signal, withinMs: RESPONSE_WITHIN_MS, resendForMs: 0 })) ?? {};
  } catch {
    return {};
  }
}

/** A seq above all others: a stream that resumes after it starts at the present, and its messages have seqs. */
const PRESENT = Number.MAX_SAFE_INTEGER;

/**
 * Track where to resume the stream of a job after a lost connection: after the latest event that it has sent.
 *
 * The init of a stream shows the job as it is now. Events that happened before it can follow.
 */
class Position {
  #since: number;
  #initAt = '';
  #replays = false;

  /** @param since seq after which to begin; null for the present */
  constructor(since: number | null) {
    this.#since = since ?? PRESENT;
  }

  /** Parameters of the next stream. */
  get query(): { since: number } {
    return { since: this.#since };
  }

  /**
   * Move to a message.
   *
   * @returns whether events before it are lost
   */
  moveTo({ type, seq, missed, timestamp }: StreamMessage): boolean {
    const wasPresent = this.#since === PRESENT;
    if (type === 'init') {
      this.#initAt = timestamp;
      this.#replays = !wasPresent;
    }
    // Messages without a seq, such as those of logs, are not events of the history.
    if (seq !== null) this.#since = seq;
    return missed && !wasPresent;
  }

  /** Whether events of the history up to the init can follow this one. A completed job stays completed. */
  isBeforeInit({ type, timestamp }: StreamMessage): boolean {
    return this.#replays && type !== 'completed' && timestamp <= this.#initAt;
  }
}
