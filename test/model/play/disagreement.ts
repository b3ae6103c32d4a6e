import { inspect } from 'node:util';

/** Store and model say different things. */
export class Disagreement extends Error {}

/** A value to read. */
export const shown = (value: unknown) => inspect(value, { depth: 8, breakLength: 120, maxArrayLength: 500 });
