import { signal } from '@preact/signals';

/** Number of acts so far. What is shown is loaded again after each, also while live updates are paused. */
export const acted = signal(0);
