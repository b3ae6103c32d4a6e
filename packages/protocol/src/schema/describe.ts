import type { z } from 'zod';

const DESCRIPTIONS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Set how the OpenAPI document describes a schema that zod cannot describe, because it checks with a function or its
 * output type differs from its input type.
 *
 * @param described schema that accepts the same input; only describes, never checks
 * @returns the schema itself
 */
export function describeAs<T extends z.ZodType>(schema: T, described: z.ZodType): T {
  DESCRIPTIONS.set(schema, described);
  return schema;
}

/** Return the schema that describes another; null if zod can derive it. A refined schema inherits its original's. */
export function openApiSchemaOf(schema: z.core.$ZodType): z.ZodType | null {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const described = DESCRIPTIONS.get(one);
    if (described !== undefined) return described;
  }
  return null;
}
