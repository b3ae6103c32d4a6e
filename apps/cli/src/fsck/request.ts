import type { Env } from '../command.js';
import type { Format } from '../flags.js';

/** Parsed command line of `fsck`. */
export interface FsckRequest {
  /** Whether to repair the faults that can be repaired. */
  isRepairing: boolean;
  /** Whether to show every fault, not only the first faults of each kind. */
  isVerbose: boolean;
  format: Format;
  /** The service's own variables: address of Redis, and how it is used. */
  variables: Env;
}
