import type { Examples } from '../operation.js';

/** Answer of what has nothing to tell but that it is done. */
export const DONE: Examples = { Done: { success: true } };
