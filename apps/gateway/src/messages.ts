import {
  type CountsMessage,
  type FullMessage,
  type InitMessage,
  isJsonObject,
  isStreamType,
  type JsonValue,
  type ProgressMessage,
  type PublishedMessage,
  type SpaceMessage,
  STREAM_TYPES,
  type StreamScope,
} from '@yardmaster/protocol';
import { isoOf, type StatusCounts } from '@yardmaster/store';

/** What a stream shows: a scope of a job stream, or a space stream. */
export const VISIBILITIES = ['full', 'progress', 'space'] as const satisfies readonly (StreamScope | 'space')[];

export type Visibility = (typeof VISIBILITIES)[number];

/** How a stream encodes its messages. All streams of a form share one object, which `formOf` returns. */
export interface Form {
  readonly visibility: Visibility;
  /** Whether messages contain the seq of their event, because the client asked for it with `since`. */
  readonly hasSeq: boolean;
  /** Whether this is an event stream (`text/event-stream`) instead of a WebSocket. */
  readonly isEventStream: boolean;
  /** Index among all forms. */
  readonly index: number;
}

const BOTH = [false, true];
const FORMS = VISIBILITIES.flatMap((visibility) =>
  BOTH.flatMap((hasSeq) => BOTH.map((isEventStream) => ({ visibility, hasSeq, isEventStream }))),
).map((form, index): Form => ({ ...form, index }));

export const formOf = (visibility: Visibility, hasSeq: boolean, isEventStream: boolean): Form =>
  FORMS.find(
    (form) => form.visibility === visibility && form.hasSeq === hasSeq && form.isEventStream === isEventStream,
  ) as Form;

/** Additional fields of the messages of space streams with COMPAT=emit. */
export interface EmitFields {
  /** Number of the message in its channel. */
  seq: number;
  /** Present only if the status of the job has changed. */
  counts?: StatusCounts | undefined;
}

/** Message that follows the init of a space stream with COMPAT=emit. */
export interface ConnectedMessage extends Required<EmitFields> {
  spaceId: string;
  type: 'connected';
  /** Changes whenever the numbering restarts. */
  streamInstanceId: string;
  /** Whether the client may have missed messages since its `since`. */
  missed: boolean;
  counts: StatusCounts;
  timestamp: string;
}

/** An event or log append on its way from a channel to the sockets of any number of streams. */
export class OutgoingMessage {
  /** Frames by the index of their form; null if the form does not show the event. */
  readonly #frames: (Buffer | null | undefined)[] = [];

  constructor(
    readonly event: PublishedMessage,
    readonly more?: EmitFields,
  ) {}

  /** Return the frame for a form; null if the event is not shown. Each frame is encoded once. */
  encodedFor(form: Form): Buffer | null {
    let frame = this.#frames[form.index];
    if (frame === undefined) {
      const message = SERIALIZERS[form.visibility](this.event);
      const seq = form.visibility === 'space' ? null : this.event.seq;
      const more = form.hasSeq && seq !== null ? { seq } : this.more;
      frame = message && frameOf(more === undefined ? message : { ...message, ...more }, form, seq);
      this.#frames[form.index] = frame;
    }
    return frame;
  }

  /** Whether a later message of the same type and job makes this one obsolete. */
  get isProgress(): boolean {
    return this.event.type === 'progress';
  }
}

/**
 * Encode a message for any number of sockets: as the content of a text frame, or as an event of an event stream.
 *
 * @param id number that an event stream client sends as `Last-Event-ID` to resume after the message; null for none
 */
export function frameOf(message: object, { isEventStream }: Form, id: number | null = null): Buffer {
  const text = JSON.stringify(message);
  return Buffer.from(isEventStream ? `${id === null ? '' : `id: ${id}\n`}data: ${text}\n\n` : text);
}

/** The messages of a stream that report an event. */
type ReportOf<Message> = Exclude<Message, InitMessage | CountsMessage>;

/** Fields of these messages. TypeScript can't see that a type and its data match because they come from one event. */
type FieldsOf<Message> = Pick<ReportOf<Message>, keyof ReportOf<Message>>;

// Each function below names every field that it sends, so that a field added to events later is never exposed by accident.
// It returns null for an event that this kind of stream does not show.

/**
 * Return the full-scope message of an event.
 *
 * @see docs/streams.md#messages
 */
function fullMessageOf(event: PublishedMessage): FieldsOf<FullMessage> | null {
  const { jobId, jobName, type, status, data, at } = event;
  if (!isStreamType(type)) return null;
  return { jobId, jobName, type, status, data, timestamp: isoOf(at) };
}

/**
 * Return the progress-scope message of an event.
 *
 * @see docs/streams.md#messages
 */
function progressMessageOf({ jobId, type, data, at }: PublishedMessage): ReportOf<ProgressMessage> | null {
  const inProgressScope = isStreamType(type) ? STREAM_TYPES[type] : 'withheld';
  if (inProgressScope === 'withheld') return null;
  const timestamp = isoOf(at);
  const fields = inProgressScope === 'with data' ? { jobId, type, data, timestamp } : { jobId, type, timestamp };
  return fields as ReportOf<ProgressMessage>;
}

export const isOnSpaceStream = (type: string) => type === 'created' || isStreamType(type);

/** Return the full-scope message of an event with its space. Includes `created`, which job streams never send. */
function spaceMessageOf(event: PublishedMessage): FieldsOf<SpaceMessage> | null {
  const { jobId, jobName, spaceId, type, status, data, at } = event;
  if (!isOnSpaceStream(type)) return null;
  return { jobId, jobName, spaceId, type, status, data, timestamp: isoOf(at) };
}

const SERIALIZERS = { full: fullMessageOf, progress: progressMessageOf, space: spaceMessageOf } as const;

/** Maximum epoch milliseconds of a Date. */
const MAX_TIME = 8.64e15;

const TEXTS = ['jobId', 'jobName', 'spaceId', 'type', 'status'] as const;

/**
 * Parse an event received on a channel.
 *
 * Scripts publish only events, but any client of Redis can publish anything, and different releases may run side by side.
 * The check is written by hand, because it runs for every event of every channel.
 *
 * @returns null if the text is not an event
 */
export function readPublished(text: string): PublishedMessage | null {
  const raw = parse(text);
  if (!isJsonObject(raw) || TEXTS.some((field) => typeof raw[field] !== 'string')) return null;
  const { type, seq, at, data = null, tags = [] } = raw;
  if (typeof at !== 'number' || Math.abs(at) > MAX_TIME) return null;
  if (!Array.isArray(tags)) return null;
  if (type === 'logs_appended' ? seq !== null || !isAppend(data) : !isSeq(seq) && !isEphemeral(type, seq)) return null;
  return { ...(raw as unknown as PublishedMessage), data } as PublishedMessage;
}

/** Return whether a message is an ephemeral event, which is not in the history and is sent only to open streams. */
const isEphemeral = (type: JsonValue | undefined, seq: JsonValue | undefined) => type === 'event' && seq === null;

const isSeq = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0;

function isAppend(data: JsonValue): boolean {
  if (!isJsonObject(data)) return false;
  const { fromSeq, toSeq, count } = data;
  return isSeq(fromSeq) && isSeq(toSeq) && isSeq(count) && Number(count) === Number(toSeq) - Number(fromSeq) + 1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
