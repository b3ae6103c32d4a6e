import { signal } from '@preact/signals';

/** Number of actions so far. What is shown is loaded again after each, also while live updates are paused. */
export const actionCount = signal(0);
