import { signal } from '@preact/signals';

/** How far the clock of the service is ahead of this one, milliseconds. */
let aheadMs = 0;

/** Return the time of the service, epoch milliseconds. */
export const serviceTime = () => Date.now() + aheadMs;

/** The time of the service, epoch milliseconds; it changes once a second. */
export const now = signal(serviceTime());

setInterval(() => {
  now.value = serviceTime();
}, 1000);

/** Set the clock by a timestamp that the service has just sent. */
export function setClock(timestamp: string): void {
  aheadMs = Date.parse(timestamp) - Date.now();
}
