import type { EventType, Job, JobEvent, JsonValue } from '@yardmaster/protocol';
import { isoOf } from '../../time.js';
import { parseJson } from './record.js';

/**
 * One entry of `job:<id>:events`, or of the history that the record implies in its place. The data is left out when
 * it has none, and for `completed`, whose data is the result.
 */
type StoredEvent = [type: EventType, atMs: number, data?: JsonValue];

/**
 * Build the first event of a job from the job. impliedEntries in Lua builds the other events that follow from its
 * record.
 */
export function createdEventOf({ id, spaceId, createdAt }: Job): JobEvent {
  return { id: `${id}.1`, jobId: id, spaceId, type: 'created', data: null, createdAt };
}

/** Build events from consecutive entries of a job's history, the first of which has this seq. */
export function eventsOf(
  { id, spaceId, result }: Pick<Job, 'id' | 'spaceId' | 'result'>,
  firstSeq: number,
  entries: readonly string[],
): JobEvent[] {
  return entries.map((entry, i) => {
    const [type, atMs, kept = null] = parseJson(entry) as unknown as StoredEvent;
    const data = type === 'completed' ? result : kept;
    return { id: `${id}.${firstSeq + i}`, jobId: id, spaceId, type, data, createdAt: isoOf(atMs) };
  });
}
