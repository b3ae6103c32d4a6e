/**
 * Kind of a warning. `failed`: an attempt failed with the error and stack in the message. `blocked`: handlers have blocked
 * the event loop for 5 s. `lost`: a job was lost, so what its handler does is ignored. `unsettled`: the worker stopped without
 * reporting the outcome of the jobs. `logs`: log entries were dropped. `unknownName`: a job has no handler and was released.
 * `unavailable`: calls fail and are retried. `stream`: the stream of kills can't be opened, so they are noticed at the next
 * heartbeat. `report`: the service refused a report.
 */
export type WarningKind =
  | 'failed'
  | 'blocked'
  | 'lost'
  | 'unsettled'
  | 'logs'
  | 'unknownName'
  | 'unavailable'
  | 'stream'
  | 'report';

/** Something that needs attention but does not end the worker. */
export interface Warning {
  kind: WarningKind;
  message: string;
  /** Of the jobs that it is about; may be empty. */
  jobIds: string[];
}

export type OnWarning = (warning: Warning) => void;

/** Return a function of the user so that what it throws does not break the worker, but is written to stderr. */
export const guarded =
  <Args extends unknown[]>(name: string, call: (...args: Args) => void): ((...args: Args) => void) =>
  (...args) => {
    try {
      call(...args);
    } catch (error) {
      process.stderr.write(`yardmaster: ${name} has thrown: ${(error as Error)?.message ?? error}\n`);
    }
  };

/** Write a warning to stderr. */
export const writeWarning: OnWarning = ({ kind, message, jobIds }) =>
  void process.stderr.write(`yardmaster: ${message} (${[kind, ...jobIds].join(', ')})\n`);
