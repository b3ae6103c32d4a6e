import { openApiSchemaOf } from '@yardmaster/protocol';
import { z } from 'zod';
import { forGenerators } from './generators.js';

/** A schema in the form of JSON Schema 2020-12, which OpenAPI 3.1 also uses. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

export const JSON_TYPE = 'application/json';

/**
 * Return the `components.schemas` of the document: all schemas of the protocol with an id. Wherever one of them occurs,
 * the document refers to it.
 */
export function namedSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...OPTIONS, uri: (id) => refTo('schemas', id).$ref });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, forGenerators(schema)]),
  );
}

/** Return the schemas to which parts of the document refer, also through other schemas. The protocol has further ones. */
export function schemasIn(parts: unknown): Record<string, JsonSchema> {
  const all = namedSchemas();
  const found: Record<string, JsonSchema> = {};
  const collect = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name in found) continue;
      found[name] = all[name] as JsonSchema;
      collect(found[name]);
    }
  };
  collect(parts);
  return found;
}

/** Return a reference to a schema that has an id, and any other schema in full. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const id = schema.meta()?.id;
  if (id !== undefined) return refTo('schemas', id);
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, OPTIONS);
  // Schemas with an id, of which it consists, are in the document already.
  const { $ref } = refTo('schemas', '');
  return forGenerators(JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', `"${$ref}`)));
}

/** Return a reference into the document's own components. */
export const refTo = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Return the `examples` of a body, from values under the sentence that describes each. */
export function namedExamples(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([summary, value], i) => [`example${i + 1}`, { summary, value }]),
  );
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Describe in JSON Schema what zod cannot derive. */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const described = openApiSchemaOf(zodSchema);
  if (described !== null) replace(jsonSchema, { ...jsonSchemaOf(described), ...descriptionOf(jsonSchema) });
  // zod leaves a default out when the value is transformed; a scalar stays what it is.
  const { def } = zodSchema._zod;
  const value = def.type === 'default' ? def.defaultValue : z.globalRegistry.get(zodSchema)?.default;
  if (value !== undefined && (value === null || typeof value !== 'object')) jsonSchema.default = value;
};

const descriptionOf = ({ description }: JsonSchema) => (description === undefined ? {} : { description });

function replace(target: JsonSchema, source: JsonSchema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, source);
}

// A check that zod cannot express becomes `{}`; a test finds schemas that are still `{}`. Input: what callers send, in
// which unknown fields are ignored. Responses have no other output, and later releases may add fields to them.
const OPTIONS = { io: 'input', unrepresentable: 'any', override } as const;
