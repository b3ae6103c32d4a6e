import { TRANSITIONS } from './transitions.js';

const isHeld = (status: string) => status === 'delivered' || status === 'running';
const isWaiting = (status: string) => status === 'pending' || status === 'scheduled';

/** Types of events after which a job waits for another worker: `retried`, `released` and `delivery_timeout`. */
export const WAITS_AGAIN_EVENTS: ReadonlySet<string> = new Set(
  TRANSITIONS.filter(({ from, to }) => from.some(isHeld) && isWaiting(to)).flatMap(({ event }) => event ?? []),
);
