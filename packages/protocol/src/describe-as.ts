import type { z } from 'zod';

const STAND_INS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Set how a schema is described in the OpenAPI document, where zod cannot derive it: a schema that checks by a
 * function, or whose output is another type than what callers send.
 *
 * @param standIn OpenAPI schema that accepts what the schema accepts; it only describes and never checks
 * @returns the schema itself
 */
export function describeAs<T extends z.ZodType>(schema: T, standIn: z.ZodType): T {
  STAND_INS.set(schema, standIn);
  return schema;
}

/** Return the OpenAPI schema of a schema, or null: it describes itself. A refined schema has that of its original. */
export function openApiSchemaOf(schema: z.core.$ZodType): z.ZodType | null {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const standIn = STAND_INS.get(one);
    if (standIn !== undefined) return standIn;
  }
  return null;
}
