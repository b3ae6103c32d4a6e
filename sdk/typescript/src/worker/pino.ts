import type { LogEntryLevel } from '../wire.generated.js';
import type { WorkerJob } from './context.js';
import type { LogEntry } from './job-log.js';

/** Gets what handlers write to the logs of their jobs. */
export type OnLog = (entry: LogEntry, job: WorkerJob) => void;

/** A logger of pino, or one with the same methods. */
export type PinoLogger = Record<LogEntryLevel, (fields: object, message: string) => void>;

/** Return an `onLog` that writes to pino too, with the id and the name of the job as fields. */
export function toPino(logger: PinoLogger): OnLog {
  return ({ level, message, metadata }, { id, name }) =>
    logger[level]({ ...metadata, jobId: id, jobName: name }, message);
}
