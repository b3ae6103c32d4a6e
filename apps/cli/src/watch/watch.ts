import type { Progress } from '@yardmaster/protocol';
import { exitOf, gaveUpAfter, type Outcome, outcomeOf } from '../exit-codes.js';
import { Connectivity } from '../service/connectivity.js';
import { type FollowOptions, follow } from '../service/follow.js';
import { get } from '../service/get.js';
import { readMessage, readProgress, type StreamMessage } from '../service/message.js';
import { progressUrlOf, type Service, type Subject, streamUrlOf } from '../service/service.js';
import type { Display } from './display.js';
import { endsAttempt } from './screen.js';

interface WatchOptions extends Pick<FollowOptions, 'waitForDrain'> {
  service: Service;
  subject: Subject;
  display: Display;
  /** Null for no limit. */
  timeoutSeconds: number | null;
}

/** Watch a job until it ends, or a space for ever, over as many connections as needed. */
export async function watch({ timeoutSeconds, ...options }: WatchOptions): Promise<Outcome> {
  const { service, subject, display } = options;
  const stop = new AbortController();
  let outcome: Outcome | null = null;
  const finish = (because: Outcome) => {
    outcome ??= because;
    stop.abort();
  };
  const giveUp = () => finish(gaveUpAfter(timeoutSeconds));
  const timer = timeoutSeconds === null ? undefined : setTimeout(giveUp, timeoutSeconds * 1000);
  const fillIn = progressFiller(options, stop.signal);
  // A job's init makes up for missed messages, the init of a space cannot.
  const gap = subject.kind === 'space' ? '; events until then are not shown' : '';
  const connectivity = new Connectivity(service, display.notice, gap);

  const end = await follow({
    ...options,
    url: streamUrlOf(service, subject),
    signal: stop.signal,
    onMessage(text) {
      const message = readMessage(text);
      if (message === null || stop.signal.aborted) return;
      connectivity.markConnected('stream');
      display.show(message, text);
      if (subject.kind === 'space') return;
      const exit = exitOf(message);
      if (exit !== null) finish({ exit, sentence: null });
      else fillIn(message);
    },
    onLost: (reason) => connectivity.markLost('stream', reason),
  });
  clearTimeout(timer);
  display.close();
  return outcome ?? outcomeOf(end, service);
}

/**
 * Make a function that gets every message, and that reads the progress which a full-scope init does not contain.
 *
 * So a bar is right from the start. That progress is shown unless a newer message came meanwhile.
 */
function progressFiller({ service, subject, display }: Omit<WatchOptions, 'timeoutSeconds'>, signal: AbortSignal) {
  let seen = 0;
  return ({ type, status }: StreamMessage): void => {
    // Other messages, such as a checkpoint, do not make the progress out of date.
    if (type === 'init' || type === 'progress' || endsAttempt(type)) seen++;
    if (subject.kind !== 'job' || display.showProgress === undefined) return;
    // A job that does not run has no progress, or that of an earlier attempt.
    if (type !== 'init' || status !== 'running') return;
    const asOf = seen;
    void latestProgress(service, subject.jobId, signal).then((progress) => {
      if (progress !== null && asOf === seen && !signal.aborted) display.showProgress?.(progress);
    });
  };
}

const RESPONSE_WITHIN_MS = 10_000;

/**
 * Read the latest progress of a job.
 *
 * @returns null when there is none, and when it cannot be read, because the next report brings one anyway
 */
async function latestProgress(service: Service, jobId: string, signal: AbortSignal): Promise<Progress | null> {
  try {
    const url = progressUrlOf(service.url, jobId);
    const response = await get(url, { service, signal, withinMs: RESPONSE_WITHIN_MS });
    if (typeof response !== 'string') return null;
    const { progress } = JSON.parse(response) as { progress?: unknown };
    return readProgress(progress);
  } catch {
    return null;
  }
}
