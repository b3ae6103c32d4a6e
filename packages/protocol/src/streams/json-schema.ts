import { z } from 'zod';
import { openApiSchemaOf } from '../schema/describe.js';
import { streamMessage } from './streams.js';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * Create the JSON Schema (2020-12) of the messages of all streams.
 *
 * It accepts unknown fields, because later releases may add fields. Each kind of stream has a schema of its own in
 * `$defs`, for clients that open only one kind.
 */
export function streamMessageSchema(): JsonSchema {
  return {
    title: 'Messages of Yardmaster streams',
    description: 'Ignore messages of a type that is not listed here, because later releases may add types.',
    ...toJsonSchema(streamMessage),
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input', // Unlike `output`, `input` accepts unknown fields.
    unrepresentable: 'any', // Any JSON value is checked by a function, so its schema is `{}`.
    override({ zodSchema, jsonSchema }) {
      const standIn = openApiSchemaOf(zodSchema);
      if (standIn === null) return;
      const { $schema: _, ...described } = toJsonSchema(standIn);
      Object.assign(jsonSchema, described);
    },
  });
}
