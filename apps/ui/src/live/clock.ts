import { signal } from '@preact/signals';

/** How far the clock of the service is ahead of this one, milliseconds. */
let aheadMs = 0;

/** The time of the service, epoch milliseconds; it changes once a second. */
export const now = signal(Date.now());

setInterval(() => {
  now.value = Date.now() + aheadMs;
}, 1000);

/** Set the clock by a timestamp that the service has just sent. */
export function setClock(timestamp: string): void {
  aheadMs = Date.parse(timestamp) - Date.now();
}
