import type { AppendedLogs, LogEntry, LogsPage, LogsQuery, NewLog } from '@yardmaster/protocol';
import { LEAST_KEPT, NO_BYTES, publish } from './history.js';
import { iso, jobFor, type OfJob, type World } from './world.js';

// Logs are accepted in any status, and are not a heartbeat.

export function append(world: World, { job: id, caller, logs }: OfJob & { logs: NewLog[] }): AppendedLogs {
  const job = jobFor(world, id, caller);
  const fromSeq = job.logSeq + 1;
  const now = iso(world.now);
  for (const { message, level = 'info', source = 'worker', metadata, timestamp } of logs) {
    job.logSeq += 1;
    const loggedAt = timestamp === undefined ? now : iso(timestamp);
    const seq = job.logSeq;
    job.logs.push({
      id: `${id}.${seq}`,
      seq,
      level,
      message,
      source,
      metadata: metadata ?? {},
      loggedAt,
      createdAt: now,
    });
  }
  job.logs = job.logs.slice(-world.settings.logsPerJob);
  const toSeq = job.logSeq;
  const isMeasured = Math.floor(toSeq / 16) > Math.floor((fromSeq - 1) / 16);
  if (isMeasured && world.settings.logBytesPerJob === NO_BYTES) job.logs = job.logs.slice(-LEAST_KEPT);
  const data = { fromSeq, toSeq, count: logs.length };
  publish(world, job, { seq: null, type: 'logs_appended', data, at: world.now });
  return { success: true, inserted: logs.length, fromSeq, toSeq };
}

export const read = (world: World, { job, caller, query }: OfJob & { query: LogsQuery }): LogsPage =>
  pageOf(jobFor(world, job, caller).logs, query);

/**
 * Return the page of some entries that a query selects. Pages are ascending. `hasMore`: more entries match in the
 * direction of paging. An empty page echoes its bound.
 */
export function pageOf<E extends Pick<LogEntry, 'seq' | 'level' | 'message'>>(kept: readonly E[], query: LogsQuery) {
  const { mode, bound, limit, levels, terms } = query;
  const isAfter = mode === 'after';
  const matching = kept
    .filter(({ seq }) => bound === null || (isAfter ? seq > bound : seq < bound))
    .filter(({ level }) => levels === null || levels.includes(level))
    .filter(({ message }) => terms.every((term) => message.toLowerCase().includes(term.toLowerCase())));
  const logs = isAfter ? matching.slice(0, limit) : matching.slice(-limit);
  const echo = bound ?? 0;
  const cursor = { oldestSeq: logs[0]?.seq ?? echo, newestSeq: logs.at(-1)?.seq ?? echo };
  return { logs, cursor: { mode, ...cursor, hasMore: matching.length > limit } };
}
