import { instant } from '@yardmaster/protocol';
import type { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Rewrite a schema so that code generators understand it, also inside. It says the same in other words:
 *
 * - A default becomes a sentence of the description. Generated clients would send it with every call.
 * - A list of types becomes `anyOf`, because oapi-codegen refuses such a list.
 * - A time has no pattern beside its format, because openapi-generator's Python types it as a date and then fails.
 * - A constant true or false has no type beside it. With one, openapi-generator's Python compares it with a text.
 * - A time that may be null is written in place, as the only list of types, because generators know it in this form.
 */
export function forGenerators(schema: JsonSchema): JsonSchema {
  const { default: value, ...rest } = inner(schema);
  if (rest.format === TIME.format) delete rest.pattern;
  if (typeof rest.const === 'boolean') delete rest.type;
  if (value !== undefined) rest.description = sentences(rest.description, defaultOf(value));
  return nullableTime(rest) ?? withoutTypeList(rest);
}

const WITH_SCHEMA = ['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then'] as const;
const WITH_SCHEMAS = ['anyOf', 'oneOf', 'allOf'] as const;

/** Rewrite the schemas that a schema contains. */
function inner(schema: JsonSchema): JsonSchema {
  const copy: JsonSchema = { ...schema };
  for (const key of WITH_SCHEMA) if (isSchema(copy[key])) copy[key] = forGenerators(copy[key]);
  for (const key of WITH_SCHEMAS)
    if (copy[key] !== undefined) copy[key] = (copy[key] as JsonSchema[]).map(forGenerators);
  if (copy.properties !== undefined) {
    const fields = Object.entries(copy.properties) as [string, JsonSchema][];
    copy.properties = Object.fromEntries(fields.map(([name, field]) => [name, forGenerators(field)]));
  }
  return copy;
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const defaultOf = (value: unknown) => `Default: \`${JSON.stringify(value)}\``;

const sentences = (...parts: (string | undefined)[]) => parts.filter((part) => part !== undefined).join('. ');

/** Schemas of a time that is not null: the one with a name, and the ones in requests. */
const TIME = { type: 'string', format: 'date-time' };
const INSTANT = { $ref: `#/components/schemas/${instant.meta()?.id}`, description: instant.meta()?.description };

/** Return the schema of a time that may be null, written in place; null for another schema. */
function nullableTime({ anyOf, description, ...rest }: JsonSchema): JsonSchema | null {
  const [time, empty, ...more] = (anyOf ?? []) as JsonSchema[];
  if (time === undefined || empty?.type !== 'null' || more.length > 0) return null;
  const isInstant = time.$ref === INSTANT.$ref;
  if (!isInstant && time.format !== TIME.format) return null;
  const text = sentences(description, isInstant ? INSTANT.description : time.description);
  return { ...rest, ...TIME, type: ['string', 'null'] as never, description: text };
}

/** Return a schema in which `anyOf` replaces a list of types. */
function withoutTypeList({ type, ...rest }: JsonSchema): JsonSchema {
  if (!Array.isArray(type) || rest.format === TIME.format) return type === undefined ? rest : { type, ...rest };
  return { ...rest, anyOf: type.map((one) => ({ type: one })) };
}
