import {
  type JsonObject,
  LOG_DEFAULTS,
  LOG_LEVELS,
  type LogEntry,
  type LogLevel,
  type NewLog,
} from '@yardmaster/protocol';
import { parseJson } from '../jobs/read/record.js';
import { isoOf } from '../time.js';

/**
 * An entry of `job:<id>:logs`, a JSON array: when it was stored (epoch ms), the level's index in LOG_LEVELS, the
 * message, when it was logged (epoch ms), the source, the metadata. A default value is null, or left out at the end.
 * The entry does not contain its seq, which is its position in the list plus the number of dropped entries.
 */
export type StoredLog = [
  storedAtMs: number,
  level: number,
  message: string,
  loggedAtMs?: number | null,
  source?: string | null,
  metadata?: JsonObject,
];

/** Text of a stored entry without its first element, which only Redis knows: `,2,"hello"]`. */
export type PackedLog = string;

/** Pack an entry for appendLogs. */
export function packLog({ message, level = LOG_DEFAULTS.level, timestamp, source, metadata }: NewLog): PackedLog {
  const head = `,${LOG_LEVELS.indexOf(level)},${JSON.stringify(message)}`;
  const loggedAt = timestamp ?? null;
  const origin = source === undefined || source === LOG_DEFAULTS.source ? 'null' : JSON.stringify(source);
  if (metadata && Object.keys(metadata).length > 0) {
    return `${head},${loggedAt},${origin},${JSON.stringify(metadata)}]`;
  }
  if (origin !== 'null') return `${head},${loggedAt},${origin}]`;
  return loggedAt === null ? `${head}]` : `${head},${loggedAt}]`;
}

/** Parse an entry as Redis returns it. */
export const parseLog = (text: string) => parseJson(text) as unknown as StoredLog;

/** Return the level of a stored entry. */
export const levelOf = ([, level]: StoredLog) => LOG_LEVELS[level] as LogLevel;

/** Build the entry that readers get. */
export function logOf(jobId: string, seq: number, stored: StoredLog): LogEntry {
  const [storedAt, , message, loggedAt, source, metadata] = stored;
  const createdAt = isoOf(storedAt);
  return {
    id: `${jobId}.${seq}`,
    seq,
    level: levelOf(stored),
    message,
    source: source ?? LOG_DEFAULTS.source,
    metadata: metadata ?? {},
    loggedAt: typeof loggedAt === 'number' ? isoOf(loggedAt) : createdAt,
    createdAt,
  };
}
