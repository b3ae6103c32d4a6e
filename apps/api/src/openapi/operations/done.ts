import type { Examples } from '../operation.js';

/** Response of operations that report only that the request is done. */
export const DONE: Examples = { Done: { success: true } };
