import { pause } from '../backoff.js';
import { open } from '../client/http.js';
import { spacePath, type Target } from '../client/transport.js';
import { JOB_LOST_EVENTS } from '../wire.generated.js';

const FIRST_MS = 500;
const MOST_MS = 30_000;
/** A stream of this length counts as a success. */
const LASTING_MS = 5_000;
/** Time for the response to begin. */
const RESPONSE_MS = 10_000;
/** The service sends a comment every 15 s. */
const SILENT_MS = 45_000;
/** After this many failures in a row there is a warning. */
const FAILURES_BEFORE_WARNING = 5;
/** A longer query is refused with its headers. Then the stream has all names. */
const MOST_QUERY = 6_000;

function pathOf(target: Target, names: readonly string[]): string {
  const query = new URLSearchParams();
  for (const type of JOB_LOST_EVENTS) query.append('type', type);
  const ofNames = new URLSearchParams(names.map((name): [string, string] => ['name', name])).toString();
  const all = ofNames.length < MOST_QUERY ? `${query}&${ofNames}` : String(query);
  return `/realtime${spacePath(target, `?${all}`)}`;
}

/** An event of a job in the stream of its space. */
export interface StreamMessage {
  type: string;
  jobId?: string;
  data?: { attemptNumber?: number } | null;
}

/** Where events of the space go. */
export interface StreamHandlers {
  message(message: StreamMessage): void;
  /** A stream has begun. What happened before it is not in it. */
  begun(): void;
  /** @param why it can't be opened */
  missing(why: string): void;
}

/**
 * Follow the ends of attempts in the space until the signal is aborted. Reconnect after a disconnection. Without the scope
 * `jobs:read` there is no stream, and heartbeats find out instead.
 */
export async function followSpace(
  target: Target,
  names: readonly string[],
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    let begunAt = Number.POSITIVE_INFINITY;
    const begun = () => {
      begunAt = performance.now();
      handlers.begun();
    };
    const why = await readStream(target, pathOf(target, names), { ...handlers, begun }, signal);
    failures = performance.now() - begunAt > LASTING_MS ? 1 : failures + 1;
    if (failures === FAILURES_BEFORE_WARNING) handlers.missing(why);
    await pause(Math.random() * Math.min(FIRST_MS * 2 ** Math.min(failures, 10), MOST_MS), signal);
  }
}

/** Read a stream to its end. @returns why it has ended */
async function readStream(
  target: Target,
  path: string,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<string> {
  const begins = new AbortController();
  const timer = setTimeout(() => begins.abort(), RESPONSE_MS);
  try {
    const headers = { ...target.authorization(), accept: 'text/event-stream' };
    const ends = AbortSignal.any([signal, begins.signal]);
    const response = await open({ url: target.urlOf(path), method: 'GET', headers, signal: ends });
    clearTimeout(timer);
    response.setTimeout(SILENT_MS, () => response.destroy());
    if (response.statusCode !== 200) {
      response.destroy();
      return `status ${response.statusCode}${response.statusCode === 403 ? '; does the key have jobs:read?' : ''}`;
    }
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) if (line.startsWith('data:')) receive(line.slice('data:'.length), handlers);
    }
    return 'the response ends';
  } catch (error) {
    return begins.signal.aborted ? `no response within ${RESPONSE_MS / 1_000} s` : (error as Error).message;
  } finally {
    clearTimeout(timer);
  }
}

function receive(data: string, handlers: StreamHandlers): void {
  let message: StreamMessage;
  try {
    message = JSON.parse(data);
  } catch {
    return; // It isn't from the service.
  }
  if (message.type === 'init') handlers.begun();
  else handlers.message(message);
}
