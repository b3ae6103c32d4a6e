import type { TargetFields } from '../client/transport.js';
import type { YardmasterError } from '../errors.js';

/** Startup data of the heartbeat thread. */
export interface HeartbeatData {
  target: TargetFields;
  /** A counter that the event loop of the handlers increments while it isn't blocked. */
  turns: Int32Array;
  /** Whether the thread writes to stderr that the event loop is blocked, since a blocked loop can't do so. */
  writesWarnings: boolean;
}

/** To the thread: start or stop the heartbeats of a job, or send all of them now. */
export type ToThread =
  | { type: 'start'; key: number; jobId: string; deliveryToken: string; timeoutSeconds: number }
  | { type: 'end'; key: number }
  | { type: 'beatNow' };

/** The fields of a refusal that can be sent between threads. */
export type SentRefusal = Pick<YardmasterError, 'code' | 'message' | 'status' | 'jobStatus'>;

/** From the thread: a refused heartbeat, a refused key, or a blocked event loop. */
export type FromThread =
  | { type: 'refused'; key: number; refusal: SentRefusal }
  | { type: 'keyRefused'; refusal: SentRefusal }
  | { type: 'blocked'; jobIds: string[] };
