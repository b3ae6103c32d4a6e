import { type Service, type Subject, streamUrlOf } from './addresses.js';
import type { Display } from './display.js';
import { type FollowOptions, follow } from './follow.js';
import { latestProgress } from './latest-progress.js';
import { readMessage, type StreamMessage } from './message.js';
import { exitCodeOf, gaveUpAfter, type Outcome, outcomeOf } from './outcome.js';
import { redact } from './redact.js';

export interface WatchOptions extends Pick<FollowOptions, 'drained' | 'silenceMs'> {
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
  let hasConnected = false;
  /** Whether the outage was shown already, because each outage is shown once, and not once for each attempt. */
  let isOutageShown = false;

  const end = await follow({
    ...options,
    url: streamUrlOf(service, subject),
    signal: stop.signal,
    onMessage(text) {
      const message = readMessage(text);
      if (message === null || stop.signal.aborted) return;
      hasConnected = true;
      isOutageShown = false;
      display.show(message, text);
      if (subject.kind === 'space') return;
      const code = exitCodeOf(message);
      if (code !== null) finish({ code, sentence: null });
      else fillIn(message);
    },
    onLost(reason) {
      if (isOutageShown) return;
      isOutageShown = true;
      const because = `(${redact(reason, service)}), connecting again`;
      display.notice(
        hasConnected
          ? `connection lost ${because}${gapOf(subject)}`
          : `no connection to ${service.url.origin} ${because}`,
      );
    },
  });
  clearTimeout(timer);
  display.close();
  return outcome ?? outcomeOf(end, service);
}

/** Return what to add about missed messages. A job's init makes up for them; the init of a space cannot. */
const gapOf = ({ kind }: Subject) => (kind === 'space' ? '; what happens meanwhile is not shown' : '');

/**
 * Make a function that gets every message, and that reads the progress which a full-scope init does not contain.
 *
 * So a bar is right from the start. That progress is shown unless a newer message came meanwhile.
 */
function progressFiller({ service, subject, display }: Omit<WatchOptions, 'timeoutSeconds'>, signal: AbortSignal) {
  let seen = 0;
  return ({ type, status }: StreamMessage): void => {
    // Other messages, such as a checkpoint, do not make the progress out of date.
    if (['init', 'progress', 'retried'].includes(type)) seen++;
    if (subject.kind !== 'job' || display.showProgress === undefined) return;
    // A job that does not run has no progress, or that of an earlier attempt.
    if (type !== 'init' || status !== 'running') return;
    const asOf = seen;
    void latestProgress(service, subject.jobId, signal).then((progress) => {
      if (progress !== null && asOf === seen && !signal.aborted) display.showProgress?.(progress);
    });
  };
}
