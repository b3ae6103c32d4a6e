import type { Route } from '@yardmaster/api';
import { logBatch, openApiSchemaOf } from '@yardmaster/protocol';
import fc from 'fast-check';
import { z } from 'zod';
import { oddText } from './json-text.js';

type Schema = z.core.JSONSchema.BaseSchema;
type Draw = fc.Arbitrary<unknown>;

/** Metadata of schemas without their ids, so that zod writes each schema in full where it occurs. */
const withoutIds = {
  get(schema: z.ZodType) {
    const { id: _, ...metadata } = z.globalRegistry.get(schema) ?? {};
    return metadata;
  },
} as typeof z.globalRegistry;

/** Convert a schema to JSON Schema, as in the OpenAPI document. */
const jsonSchemaOf = (schema: z.ZodType): Schema =>
  z.toJSONSchema(schema, {
    metadata: withoutIds,
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const describedAs = openApiSchemaOf(zodSchema);
      if (describedAs === null) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, jsonSchemaOf(describedAs));
    },
  });

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
  oddText,
  fc.constantFrom(0, -1.5, 1e21, true, false, null, 2 ** 53, 1e-7),
);

/** A longer wait would stop the run for up to 20 s. */
const shortWait = fc.constantFrom(0, 0.001, 0.02);

const anyTime = fc.constantFrom('2026-01-31T10:30:04.784Z', '2020-02-28T00:00:00+05:30', '2199-12-31T23:59:59Z');

function textLike({ format, pattern, minLength = 0, maxLength = 1e6 }: Schema): Draw {
  if (format === 'uri') return fc.constantFrom('http://127.0.0.1:9/', 'https://127.0.0.1:9/x?y=z');
  if (format === 'date-time') return anyTime;
  // A job id has 28 characters, and fast-check refuses a pattern that needs more than it may draw.
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: 28 });
  const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), oddText);
  return text.filter((each) => each.isWellFormed() && [...each].length >= minLength && [...each].length <= maxLength);
}

function objectLike({ properties, required = [], additionalProperties = {}, propertyNames = {} }: Schema): Draw {
  if (properties === undefined) {
    const key = valueLike({ type: 'string', ...(propertyNames as Schema) }) as fc.Arbitrary<string>;
    return fc.dictionary(key, valueLike(additionalProperties as Schema), { maxKeys: 4, noNullPrototype: true });
  }
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    name === 'waitSeconds' ? shortWait : valueLike(schema as Schema),
  ]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[], noNullPrototype: true });
}

const BY_TYPE: Record<string, (schema: Schema) => Draw> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  string: textLike,
  object: objectLike,
  array: ({ items, minItems: minLength = 0 }) => fc.array(valueLike(items as Schema), { minLength, maxLength: 5 }),
  integer: ({ minimum: min = 0, maximum: max = 1e9 }) => fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max)),
  number: ({ minimum: min = 1e-3, maximum: max = 1e9 }) =>
    fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max)),
};

/** Draw values that a schema accepts in most cases; rules that JSON Schema cannot express are ignored. */
function valueLike(schema: Schema): Draw {
  // Beside a type, it is a rule of which fields are required.
  if (schema.anyOf && schema.type === undefined)
    return fc.oneof(...schema.anyOf.map((each) => valueLike(each as Schema)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === undefined) return anyJson;
  return fc.oneof(...[schema.type].flat().map((type) => (BY_TYPE[type] as typeof textLike)(schema)));
}

/** Return the schema of what an endpoint reads; `{}` for nothing. Routes that read logs have no zod schema of their own. */
function schemaOf({ body, query, readBody }: Route): Schema {
  const schema = readBody ? logBatch : (body ?? query);
  return schema === undefined ? {} : jsonSchemaOf(schema);
}

/** Draw a body, or the fields of a query, that an endpoint accepts; of a list of jobs, one job. */
export const validInput = (route: Route): Draw => valueLike(schemaOf(route));

/** Draw a value, or a list with it if an endpoint takes lists. */
export function inLists(route: Route, one: Draw): Draw {
  if (route.list === undefined) return one;
  const others = fc.array(validInput(route), { maxLength: 3 });
  const list = fc.tuple(others, one, fc.nat(3)).map(([items, item, at]) => items.toSpliced(at, 0, item));
  return fc.oneof({ arbitrary: one, weight: 3 }, { arbitrary: list, weight: 1 });
}

/** List the fields that an endpoint reads. */
export const fieldsOf = (route: Route): string[] => Object.keys(schemaOf(route).properties ?? {});

/** Return whether an endpoint reads a body. */
export const readsBody = ({ body, readBody }: Route) => body !== undefined || readBody !== undefined;
