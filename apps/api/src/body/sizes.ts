import { YardmasterError } from '@yardmaster/protocol';

/** Size limits, which operators may change. */
export interface SizeLimits {
  /** Whole body, on the wire and inflated. */
  bodyBytes: number;
  /** `payload` and `result`, as JSON text. */
  payloadBytes: number;
  /** Progress, checkpoint, event and error, as JSON text. */
  eventBytes: number;
  /** A batch of logs, on the wire. */
  logWireBytes: number;
  /** A batch of logs, inflated. */
  logBatchBytes: number;
  /** One log entry, as JSON text. */
  logEntryBytes: number;
  /** Entries of a batch. */
  logEntries: number;
}

/** Names of the limits for the size of a part of a body. */
export type SizeLimitName = 'payloadBytes' | 'eventBytes';

/** How many times longer JSON text may be than the text from which it was parsed: `1e20` is written as 21 digits. */
const GROWTH = 6;

/**
 * Refuse a value whose JSON text is over its limit.
 *
 * @param name name of the field, or `body`
 * @param bodyBytes size of the body that contained it. With a small body the value is not measured
 * @throws TOO_LARGE
 */
export function checkSize(name: string, value: unknown, limit: number, bodyBytes: number): void {
  if (bodyBytes * GROWTH <= limit) return;
  if (Buffer.byteLength(JSON.stringify(value)) > limit) {
    throw new YardmasterError('TOO_LARGE', `${name} must be at most ${limit} bytes of JSON`);
  }
}
