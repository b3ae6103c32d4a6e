import type { z } from 'zod';

const DESCRIPTIONS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Set how the OpenAPI document describes a schema that zod cannot describe. Such a schema checks by a function, or its
 * output has another type than the input of callers.
 *
 * @param described schema that accepts the same input; it only describes and never checks
 * @returns the schema itself
 */
export function describeAs<T extends z.ZodType>(schema: T, described: z.ZodType): T {
  DESCRIPTIONS.set(schema, described);
  return schema;
}

/** Return the description of a schema, or null when zod can derive it. A refined schema has that of its original. */
export function openApiSchemaOf(schema: z.core.$ZodType): z.ZodType | null {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const described = DESCRIPTIONS.get(one);
    if (described !== undefined) return described;
  }
  return null;
}
