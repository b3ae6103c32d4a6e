import { isJsonObject, type JsonValue, type PublishedNews } from '@yardmaster/protocol';

/** Largest number of milliseconds since the epoch that a date can have. */
const MAX_TIME = 8.64e15;

const TEXTS = ['jobId', 'jobName', 'spaceId', 'type', 'status'] as const;

/**
 * Read an event as it came over a channel.
 *
 * The scripts publish nothing but events. But any client of Redis can publish anything, and releases run side by side.
 *
 * @returns null when the text is not an event
 */
export function readPublished(text: string): PublishedNews | null {
  const raw = parse(text);
  if (!isJsonObject(raw) || TEXTS.some((field) => typeof raw[field] !== 'string')) return null;
  const { type, seq, at, data = null } = raw;
  if (typeof at !== 'number' || Math.abs(at) > MAX_TIME) return null;
  if (type === 'logs_appended' ? seq !== null || !isAppend(data) : !isSeq(seq)) return null;
  return { ...(raw as unknown as PublishedNews), data } as PublishedNews;
}

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
