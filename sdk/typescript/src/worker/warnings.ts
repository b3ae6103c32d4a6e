/**
 * Kind of a warning. `failed`: an attempt failed; the message has its error and stack. `blocked`: a handler blocked the
 * event loop for 5 s. `lost`: a job was lost, so what its handler does is ignored. `unsettled`: the worker stopped without
 * reporting the outcome of some jobs. `logs`: log entries were dropped. `unknownName`: a job has no handler and was
 * released. `unavailable`: calls fail and are retried. `stream`: the kill stream can't be opened, so a kill isn't
 * noticed until the next heartbeat. `report`: the service refused a report.
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

/** Something that needs attention but doesn't stop the worker. */
export interface Warning {
  kind: WarningKind;
  message: string;
  /** IDs of the jobs concerned; may be empty. */
  jobIds: string[];
}

export type OnWarning = (warning: Warning) => void;

/** Wrap a user's function so that an error it throws is written to stderr instead of breaking the worker. */
export const guarded =
  <Args extends unknown[]>(name: string, call: (...args: Args) => void): ((...args: Args) => void) =>
  (...args) => {
    try {
      call(...args);
    } catch (error) {
      process.stderr.write(`yardmaster: ${name} threw an error: ${(error as Error)?.message ?? error}\n`);
    }
  };

/** Write a warning to stderr. */
export const writeWarning: OnWarning = ({ kind, message, jobIds }) =>
  void process.stderr.write(`yardmaster: ${message} (${[kind, ...jobIds].join(', ')})\n`);
