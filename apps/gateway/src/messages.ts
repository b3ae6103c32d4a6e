import {
  type FullMessage,
  isStreamType,
  type ProgressMessage,
  type PublishedNews,
  type SpaceMessage,
  STREAM_TYPES,
  type StreamScope,
} from '@yardmaster/protocol';
import { isoOf } from '@yardmaster/store';

// Each function below names every field that it lets through, so that a field which events may get one day is not shown
// to a client by accident. It returns null for an event that this kind of stream does not show.

/**
 * Return the full-scope message of an event.
 *
 * @see spec §6.1, "Full-scope message"
 */
export function fullMessageOf({ jobId, jobName, type, status, data, at }: PublishedNews): FullMessage | null {
  if (!isStreamType(type)) return null;
  return { jobId, jobName, type, status, data, timestamp: isoOf(at) };
}

/**
 * Return the progress-scope message of an event.
 *
 * @see spec §6.1, "Progress-scope message", and rule 1
 */
export function progressMessageOf({ jobId, type, data, at }: PublishedNews): ProgressMessage | null {
  if (!isStreamType(type) || STREAM_TYPES[type] === 'withheld') return null;
  const timestamp = isoOf(at);
  return STREAM_TYPES[type] === 'with data' ? { jobId, type, data, timestamp } : { jobId, type, timestamp };
}

/** Return the full-scope message with its space; also that a job was created, because the job has no stream yet. */
export function spaceMessageOf(event: PublishedNews): SpaceMessage | null {
  const { jobId, jobName, spaceId, type, status, data, at } = event;
  if (type !== 'created' && !isStreamType(type)) return null;
  return { jobId, jobName, spaceId, type, status, data, timestamp: isoOf(at) };
}

/** What a stream may show: the scope of a job stream, or a space stream. */
export type Visibility = StreamScope | 'space';

const SERIALIZERS = { full: fullMessageOf, progress: progressMessageOf, space: spaceMessageOf } as const;

/** Return the content of a text frame, ready to be sent to any number of sockets. */
export const frameOf = (message: object) => Buffer.from(JSON.stringify(message));

/** Whether a job ends with a message of this type. */
export const isTerminal = (type: string) => type === 'completed' || type === 'dead' || type === 'killed';

/** An event on its way to the sockets. It is serialized at most once for each visibility, for any number of sockets. */
export class EncodedEvent {
  readonly #frames: Partial<Record<Visibility, Buffer | null>> = {};

  constructor(readonly event: PublishedNews) {}

  /** Return the frame for a visibility; null when the event is not shown to it. */
  encodedFor(visibility: Visibility): Buffer | null {
    let frame = this.#frames[visibility];
    if (frame === undefined) {
      const message = SERIALIZERS[visibility](this.event);
      frame = message && frameOf(message);
      this.#frames[visibility] = frame;
    }
    return frame;
  }

  /** Whether a later message of the same type and job makes this one unnecessary. */
  get isProgress(): boolean {
    return this.event.type === 'progress';
  }

  /** Whether the job ends with this event. */
  get isTerminal(): boolean {
    return isTerminal(this.event.type);
  }
}
