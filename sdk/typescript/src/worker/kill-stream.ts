import { eventStream } from '../client/event-stream.js';
import { follow, type StreamMessage } from '../client/follow.js';
import { queryOf, spacePath, type Target } from '../client/transport.js';
import { JOB_LOST_EVENTS } from '../wire.generated.js';

/** Number of failures in a row after which the worker warns. */
const FAILURES_BEFORE_WARNING = 5;
/** Longest query that fits the header limit. With a longer one, the stream isn't filtered by name. */
const MOST_QUERY = 6_000;

function pathOf(target: Target, names: readonly string[]): string {
  const all = String(queryOf({ type: JOB_LOST_EVENTS, name: names }));
  const query = all.length < MOST_QUERY ? all : queryOf({ type: JOB_LOST_EVENTS });
  return `/realtime${spacePath(target, `?${query}`)}`;
}

/** Callbacks for the events of the space. */
export interface KillStreamHandlers {
  /** Called with each message, including `init`. Earlier events are missing from the stream. */
  message(message: StreamMessage): void;
  /** Called if the stream can't be opened. @param why the reason */
  missing(why: string): void;
}

/**
 * Follow the events that end attempts in the space, until the signal is aborted. Without the scope `jobs:read` there is
 * no stream, and heartbeats find out instead.
 */
export async function followKills(
  target: Target,
  names: readonly string[],
  { message, missing }: KillStreamHandlers,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const onDisconnect = (error: Error) => {
    if (++failures === FAILURES_BEFORE_WARNING) missing(error.message);
  };
  try {
    const stream = follow(eventStream(target, pathOf(target, names)), { isOfJob: false, signal, onDisconnect });
    for await (const each of stream) {
      failures = 0;
      message(each);
    }
  } catch (error) {
    if (!signal.aborted) missing((error as Error).message);
  }
}
