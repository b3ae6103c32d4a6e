import type { z } from 'zod';

const STAND_INS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Say how a schema is shown in the OpenAPI document, where zod cannot tell: one that checks by a function, or whose
 * output is another type than what callers send.
 *
 * @param standIn takes what the schema takes; only ever shown, never asked
 * @returns the very schema
 */
export function shownAs<T extends z.ZodType>(schema: T, standIn: z.ZodType): T {
  STAND_INS.set(schema, standIn);
  return schema;
}

/** What a schema is shown as; null: as itself. A refined or described schema is shown as the one it was made of. */
export function standInOf(schema: z.core.$ZodType): z.ZodType | null {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const standIn = STAND_INS.get(one);
    if (standIn !== undefined) return standIn;
  }
  return null;
}
