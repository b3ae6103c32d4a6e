import { eventStream } from '../client/event-stream.js';
import { follow, type StreamMessage } from '../client/follow.js';
import { queryOf, spacePath, type Target } from '../client/transport.js';
import { JOB_LOST_EVENTS } from '../wire.generated.js';

/** After this many failures in a row there is a warning. */
const FAILURES_BEFORE_WARNING = 5;
/** A longer query is refused with its headers. Then the stream has all names. */
const MOST_QUERY = 6_000;

function pathOf(target: Target, names: readonly string[]): string {
  const all = String(queryOf({ type: JOB_LOST_EVENTS, name: names }));
  const query = all.length < MOST_QUERY ? all : queryOf({ type: JOB_LOST_EVENTS });
  return `/realtime${spacePath(target, `?${query}`)}`;
}

/** Where the events of the space go. */
export interface KillStreamHandlers {
  /** Gets `init` as well. What happened before it is not in the stream. */
  message(message: StreamMessage): void;
  /** @param why the stream can't be opened */
  missing(why: string): void;
}

/**
 * Follow the ends of attempts in the space until the signal is aborted. Without the scope `jobs:read` there is no stream,
 * and heartbeats find out instead.
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
