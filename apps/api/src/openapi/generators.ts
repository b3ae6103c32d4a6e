import { instant } from '@yardmaster/protocol';
import type { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Rewrite a schema and the schemas inside it so that code generators understand them, without changing the meaning:
 *
 * - A default becomes part of the description, because generated clients would send it with every call.
 * - A list of types becomes `anyOf`, because oapi-codegen refuses such lists.
 * - A time loses its pattern, because openapi-generator's Python types it as a date and then fails to match it.
 * - A constant true or false loses its type, because openapi-generator's Python would compare it with a string.
 * - A nullable time is inlined, with a list of types: the one form that generators understand.
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

/** Rewrite the schemas inside a schema. */
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

/** Schemas of a non-null time: in requests, and the named one of responses. */
const TIME = { type: 'string', format: 'date-time' };
const INSTANT = { $ref: `#/components/schemas/${instant.meta()?.id}`, description: instant.meta()?.description };

/** Return the inlined schema of a nullable time; null for any other schema. */
function nullableTime({ anyOf, description, ...rest }: JsonSchema): JsonSchema | null {
  const [time, empty, ...more] = (anyOf ?? []) as JsonSchema[];
  if (time === undefined || empty?.type !== 'null' || more.length > 0) return null;
  const isInstant = time.$ref === INSTANT.$ref;
  if (!isInstant && time.format !== TIME.format) return null;
  const text = sentences(description, isInstant ? INSTANT.description : time.description);
  return { ...rest, ...TIME, type: ['string', 'null'] as never, description: text };
}

/** Replace a list of types with `anyOf`. */
function withoutTypeList({ type, ...rest }: JsonSchema): JsonSchema {
  if (!Array.isArray(type) || rest.format === TIME.format) return type === undefined ? rest : { type, ...rest };
  return { ...rest, anyOf: type.map((one) => ({ type: one })) };
}
