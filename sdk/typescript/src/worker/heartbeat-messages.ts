import type { TargetFields } from '../client/transport.js';
import type { YardmasterError } from '../errors.js';

/** What the thread of the heartbeats is started with. */
export interface HeartbeatData {
  target: TargetFields;
  /** A counter that the event loop of the handlers raises while it is not blocked. */
  turns: Int32Array;
  /** Whether to write to stderr that the event loop is blocked, because it cannot write that itself. */
  writesWarnings: boolean;
}

/** To the thread: a job that needs heartbeats, one that needs none, or that all are due now. */
export type ToThread =
  | { type: 'start'; key: number; jobId: string; deliveryToken: string; timeoutSeconds: number }
  | { type: 'end'; key: number }
  | { type: 'beatNow' };

/** A refusal, as far as it can be sent between threads. */
export type SentRefusal = Pick<YardmasterError, 'code' | 'message' | 'status' | 'jobStatus'>;

/** From the thread: a refused heartbeat, a refused key, or a blocked event loop. */
export type FromThread =
  | { type: 'refused'; key: number; refusal: SentRefusal }
  | { type: 'keyRefused'; refusal: SentRefusal }
  | { type: 'blocked'; jobIds: string[] };
