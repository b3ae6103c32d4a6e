import type { LogLevel } from '@yardmaster/protocol';
import type { CommonRequest } from '../flags.js';

/** Parsed command line of `logs`. The format `auto` is coloured on a terminal. */
export interface LogsRequest extends CommonRequest {
  jobId: string;
  follow: boolean;
  /** Levels to print; empty for all. */
  levels: LogLevel[];
  /** Text that messages must contain, whatever its case; null for no such filter. */
  grep: string | null;
  /** Number of the newest entries to begin with; null for all that are kept. */
  tail: number | null;
}
