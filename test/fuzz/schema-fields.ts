import type { z } from 'zod';

/** What is to be seen of a schema from outside, whichever kind it is. */
interface Definition {
  shape?: Record<string, unknown>;
  in?: z.ZodType;
}

/** The names of the fields that a schema of a body or a query knows; none when it is no object. */
export function fieldsOf(schema: z.ZodType | undefined): string[] {
  let def = schema?._zod.def as Definition | undefined;
  // What is transformed is an object before it is.
  while (def?.in !== undefined) def = def.in._zod.def as Definition;
  return Object.keys(def?.shape ?? {});
}
