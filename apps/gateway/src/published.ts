import { isJsonObject, type PublishedEvent } from '@yardmaster/protocol';

/** Milliseconds since the epoch beyond which there is no date. */
const MAX_TIME = 8.64e15;

const TEXTS = ['jobId', 'jobName', 'spaceId', 'type', 'status'] as const;

/**
 * Read an event as it came over a channel. Our scripts publish nothing else, but whoever has Redis can publish
 * anything, and releases run side by side.
 *
 * @returns null for what is no event
 */
export function readPublished(text: string): PublishedEvent | null {
  const raw = parse(text);
  if (!isJsonObject(raw) || TEXTS.some((field) => typeof raw[field] !== 'string')) return null;
  const { seq, at, data = null } = raw;
  if (seq !== null && !(Number.isSafeInteger(seq) && Number(seq) > 0)) return null;
  if (typeof at !== 'number' || Math.abs(at) > MAX_TIME) return null;
  return { ...(raw as unknown as PublishedEvent), data };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
