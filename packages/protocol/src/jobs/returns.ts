import { TRANSITIONS } from './transitions.js';

const isHeld = (status: string) => status === 'delivered' || status === 'running';
const isWaiting = (status: string) => status === 'pending' || status === 'scheduled';

/** Types of events with which a job leaves its worker and waits for another one, such as `retried` and `released`. */
export const RETURN_EVENTS: ReadonlySet<string> = new Set(
  TRANSITIONS.filter(({ from, to }) => from.some(isHeld) && isWaiting(to)).flatMap(({ event }) => event ?? []),
);
