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

// Each function below names every field that it lets through: what an event may hold one day besides is not shown
// to anybody by accident. Null: an event that this kind of stream does not deliver.

/** @see spec §6.1, "Full-scope message" */
export function fullMessageOf({ jobId, jobName, type, status, data, at }: PublishedNews): FullMessage | null {
  if (!isStreamType(type)) return null;
  return { jobId, jobName, type, status, data, timestamp: isoOf(at) };
}

/** @see spec §6.1, "Progress-scope message", and rule 1 */
export function progressMessageOf({ jobId, type, data, at }: PublishedNews): ProgressMessage | null {
  if (!isStreamType(type) || STREAM_TYPES[type] === 'withheld') return null;
  const timestamp = isoOf(at);
  return STREAM_TYPES[type] === 'with data' ? { jobId, type, data, timestamp } : { jobId, type, timestamp };
}

/** The full-scope message and its space; also the birth of a job, which has no stream yet. */
export function spaceMessageOf(event: PublishedNews): SpaceMessage | null {
  const { jobId, jobName, spaceId, type, status, data, at } = event;
  if (type !== 'created' && !isStreamType(type)) return null;
  return { jobId, jobName, spaceId, type, status, data, timestamp: isoOf(at) };
}

/** Who a message is for: the scope of a job stream, or a space stream. */
export type Audience = StreamScope | 'space';

const CUTS = { full: fullMessageOf, progress: progressMessageOf, space: spaceMessageOf } as const;

/** A text frame's content, ready to be sent to any number of sockets. */
export const frameOf = (message: object) => Buffer.from(JSON.stringify(message));

/** Whether a job ends with a message of this type. */
export const isTerminal = (type: string) => type === 'completed' || type === 'dead' || type === 'killed';

/** News on their way to the sockets: cut and serialised at most once for each audience, however many those are. */
export class FramedNews {
  readonly #frames: Partial<Record<Audience, Buffer | null>> = {};

  constructor(readonly news: PublishedNews) {}

  /** What an audience gets; null when it gets nothing. */
  frameFor(audience: Audience): Buffer | null {
    let frame = this.#frames[audience];
    if (frame === undefined) {
      const message = CUTS[audience](this.news);
      frame = message && frameOf(message);
      this.#frames[audience] = frame;
    }
    return frame;
  }

  /** Whether a later message of the same kind, of the same job, makes this one needless. */
  get isProgress(): boolean {
    return this.news.type === 'progress';
  }

  /** Whether the job ends with it. */
  get isTerminal(): boolean {
    return isTerminal(this.news.type);
  }
}
