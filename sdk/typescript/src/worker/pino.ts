import type { LogEntryLevel } from '../wire.generated.js';
import type { WorkerJob } from './context.js';
import type { LogEntry } from './job-log.js';

/** Called with each entry that a handler logs. */
export type OnLog = (entry: LogEntry, job: WorkerJob) => void;

/** A pino logger, or one with the same methods. */
export type PinoLogger = Record<LogEntryLevel, (fields: object, message: string) => void>;

/** Return an `onLog` that also writes to pino, with the ID and the name of the job as fields. */
export function toPino(logger: PinoLogger): OnLog {
  return ({ level, message, metadata }, { id, name }) =>
    logger[level]({ ...metadata, jobId: id, jobName: name }, message);
}
