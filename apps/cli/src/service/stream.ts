import type { StreamMessage, WatchOptions } from '@yardmaster/sdk';
import { eventStream } from '@yardmaster/sdk/internal/client/event-stream';
import { follow } from '@yardmaster/sdk/internal/client/follow';
import { errorOf, mayPass } from './call.js';
import { type Query, queryOf, type Service, type Subject } from './service.js';

export interface StreamOptions {
  signal: AbortSignal;
  /** Filters of the stream of a space. */
  query?: Query;
  /** For a job: seq of the event after which to start; null for new events only. */
  since?: number | null;
  /** Called with the reason before each reconnect. */
  onLost: (reason: string) => void;
}

/**
 * Follow a job until it ends, or a space indefinitely, reconnecting as needed.
 *
 * @throws Refused; the reason of the signal if it aborts
 */
export async function* streamOf(
  service: Service,
  subject: Subject,
  { signal, query = {}, since, onLost }: StreamOptions,
): AsyncGenerator<StreamMessage, void, undefined> {
  const isOfJob = subject.kind === 'job';
  const id = isOfJob ? encodeURIComponent(subject.jobId) : `spaces/${encodeURIComponent(subject.spaceId)}`;
  const onDisconnect: WatchOptions['onDisconnect'] = (error) => {
    if (!mayPass(error)) throw error;
    onLost(error.message);
  };
  try {
    const connect = eventStream(service.target, `/realtime/${id}${queryOf(query)}`);
    yield* follow(connect, { isOfJob, since: since ?? undefined, signal, onDisconnect });
  } catch (error) {
    throw errorOf(error, service);
  }
}
