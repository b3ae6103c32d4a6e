import { signal } from '@preact/signals';

/** How far the service's clock is ahead of this one, in milliseconds. */
let aheadMs = 0;

/** Return the current time of the service, in epoch milliseconds. */
export const serviceTime = () => Date.now() + aheadMs;

/** Time of the service in epoch milliseconds, updated every second. */
export const now = signal(serviceTime());

setInterval(() => {
  now.value = serviceTime();
}, 1000);

/** Set the clock from a timestamp that the service has just sent. */
export function setClock(timestamp: string): void {
  aheadMs = Date.parse(timestamp) - Date.now();
}
