import { openApiSchemaOf } from '@yardmaster/protocol';
import { z } from 'zod';
import { forGenerators } from './generators.js';

/** A JSON Schema (2020-12), as used by OpenAPI 3.1. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

export const JSON_TYPE = 'application/json';

/** Return all schemas of the protocol that have an ID. The document refers to them instead of repeating them. */
export function namedSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...OPTIONS, uri: (id) => refTo('schemas', id).$ref });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, forGenerators(schema)]),
  );
}

/** Return the named schemas that parts of the document refer to, directly or through other schemas. */
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

/** Return a reference to a schema that has an ID, or else the schema itself. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const id = schema.meta()?.id;
  if (id !== undefined) return refTo('schemas', id);
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, OPTIONS);
  // Schemas inside it that have an ID are already in the document.
  const { $ref } = refTo('schemas', '');
  return forGenerators(JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', `"${$ref}`)));
}

/** Return a reference to one of the document's components. */
export const refTo = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Return the `examples` of a body from values keyed by their summaries. */
export function namedExamples(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([summary, value], i) => [`example${i + 1}`, { summary, value }]),
  );
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/** Add to a JSON Schema what zod cannot derive. */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const described = openApiSchemaOf(zodSchema);
  if (described !== null) replace(jsonSchema, { ...jsonSchemaOf(described), ...descriptionOf(jsonSchema) });
  // zod omits the default of a transformed value; add it if it is a scalar, which the transforms leave unchanged.
  const { def } = zodSchema._zod;
  const value = def.type === 'default' ? def.defaultValue : z.globalRegistry.get(zodSchema)?.default;
  if (value !== undefined && (value === null || typeof value !== 'object')) jsonSchema.default = value;
};

const descriptionOf = ({ description }: JsonSchema) => (description === undefined ? {} : { description });

function replace(target: JsonSchema, source: JsonSchema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, source);
}

// A check that zod cannot express becomes `{}`; a test finds schemas that are still `{}`. `input` describes what callers
// send, and allows unknown fields. It suits responses as well: their output is the same, and later releases may add fields.
const OPTIONS = { io: 'input', unrepresentable: 'any', override } as const;
