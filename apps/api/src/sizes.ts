import { YardmasterError } from '@yardmaster/protocol';

/** Sizes that operators may change. */
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

/** No JSON text is longer than this many times the text it was parsed from: `1e20` is written as 21 digits. */
const GROWTH = 6;

/**
 * Refuse a value whose JSON text is over its limit.
 *
 * @param what name of the field, or `body`
 * @param cameInBytes size of the body that contained it; most values then need not be measured
 * @throws TOO_LARGE
 */
export function checkSize(what: string, value: unknown, limit: number, cameInBytes: number): void {
  if (cameInBytes * GROWTH <= limit) return;
  if (Buffer.byteLength(JSON.stringify(value)) > limit) {
    throw new YardmasterError('TOO_LARGE', `${what} must be at most ${limit} bytes of JSON`);
  }
}
