import { YardmasterError } from '@yardmaster/protocol';

/** Size limits, which operators may change. */
export interface SizeLimits {
  /** Whole body, on the wire and inflated. */
  bodyBytes: number;
  /** Body that is a list of jobs, on the wire and inflated. */
  batchBytes: number;
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

/** A valid value, and the size of the JSON text from which it was parsed. */
export interface Measured {
  input: unknown;
  bytes: number;
}

/** Size limit of a part of a body; `path` null is the whole body. */
export interface SizeRule {
  path: string | null;
  limit: 'payloadBytes' | 'eventBytes';
}

/** Size rule of data that an event contains. */
export const eventSize = (path: string | null): readonly SizeRule[] => [{ path, limit: 'eventBytes' }];

/** Size rule of a payload or a result. */
export const payloadSize = (path: string): readonly SizeRule[] => [{ path, limit: 'payloadBytes' }];

/** Return a rule as a sentence. */
export const sentenceOf = ({ path, limit }: SizeRule, limits: SizeLimits) =>
  `${path === null ? 'The value' : `\`${path}\``} is at most ${limits[limit]} bytes of JSON.`;

/** How many times longer JSON text may be than the text from which it was parsed: `1e20` is written as 21 digits. */
const GROWTH = 6;

/**
 * Refuse an input of which a part is over its limit, as JSON text.
 *
 * @param at path of the input in the body; '' for the whole body
 * @throws TOO_LARGE
 */
export function checkSizes(
  rules: readonly SizeRule[] = [],
  { input, bytes }: Measured,
  limits: SizeLimits,
  at = '',
): void {
  for (const { path, limit } of rules) {
    const most = limits[limit];
    if (bytes * GROWTH <= most) continue;
    const part = path === null ? input : (input as Record<string, unknown>)[path];
    if (part === undefined || Buffer.byteLength(JSON.stringify(part)) <= most) continue;
    const where = [at, path ?? ''].filter((step) => step !== '').join('.') || 'body';
    throw new YardmasterError('TOO_LARGE', `${where} must be at most ${most} bytes of JSON`);
  }
}
