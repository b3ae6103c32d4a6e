import { inspect } from 'node:util';

/** Store and model disagree. */
export class Disagreement extends Error {}

/** Format a value for a failure message. */
export const inspected = (value: unknown) => inspect(value, { depth: 8, breakLength: 120, maxArrayLength: 500 });
