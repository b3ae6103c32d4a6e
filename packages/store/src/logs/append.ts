import {
  type AppendedLogs,
  type JsonObject,
  LOG_DEFAULTS,
  LOG_LEVELS,
  type LogEntry,
  type LogLevel,
  type NewLog,
  YardmasterError,
} from '@yardmaster/protocol';
import { parseJson } from '../jobs/read/record.js';
import { onBulk, runScript } from '../script/run-script.js';
import { append_logs } from '../script/scripts.generated.js';
import { type Caller, inputsForJob, type Store } from '../store.js';
import { isoOf } from '../time.js';

/**
 * An entry of `job:<id>:logs`, as a JSON array: when it was stored (epoch ms), index of the level in LOG_LEVELS, message,
 * when it was logged (epoch ms), source, metadata. A default value is null, or omitted at the end. The entry does not
 * contain its seq, which is its position in the list, from 1, plus the number of dropped entries.
 */
export type StoredLog = [
  storedAtMs: number,
  level: number,
  message: string,
  loggedAtMs?: number | null,
  source?: string | null,
  metadata?: JsonObject,
];

/** Text of a stored entry without `[` and the first element, which Redis adds: `,2,"hello"]`. */
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

/** Build the entry that clients see. */
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

/**
 * Append a batch to a job's logs, all or nothing. The oldest entries beyond the limits are dropped; seqs continue.
 *
 * @param logs 1 to 5,000 entries
 * @throws JOB_NOT_FOUND, FORBIDDEN, SPACE_FULL, STORAGE_FULL, UNAVAILABLE
 * @see docs/logs.md#append
 */
export async function appendLogs(
  store: Store,
  caller: Caller,
  jobId: string,
  logs: readonly PackedLog[],
): Promise<AppendedLogs> {
  const { keys, args } = inputsForJob(store, caller, jobId);
  const { lastSeq: toSeq } = await runScript(onBulk(store), append_logs, {
    keys,
    args,
    rest: logs,
  }).catch((error) => {
    if (error instanceof YardmasterError && error.code === 'STORAGE_FULL') store.observer.refusedLogs();
    throw error;
  });
  store.observer.logged(logs.length);
  return { success: true, inserted: logs.length, fromSeq: toSeq - logs.length + 1, toSeq };
}
