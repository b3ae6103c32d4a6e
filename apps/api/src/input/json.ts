import { findUnknownFields, type KnownFields, knownFieldsOf, type UnknownName, validate } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Call, Examples } from '../call.js';
import { readJson } from './body.js';
import type { Input } from './input.js';
import { checkSizes, type Measured, type SizeLimits, type SizeRule, sentenceOf } from './sizes.js';
import { reportUnknownFields } from './unknown-fields.js';

export const JSON_TYPE = 'application/json';

export interface JsonOptions {
  examples: Examples;
  sizes?: readonly SizeRule[];
  /** Whether unknown fields are always refused, because an ignored one would leave its caller in a wrong belief. */
  isStrict?: true;
  /** Value of an absent body. Default `{}`; the schema then reports its missing fields. */
  absent?: null;
  /** Check the sizes of further parts. @throws TOO_LARGE */
  check?: (measured: Measured, limits: SizeLimits) => void;
}

/** The values of a JSON body: what they are checked for. */
export interface JsonValue<B> extends JsonOptions {
  schema: z.ZodType<B>;
  fields: KnownFields;
}

export const jsonValue = <B>(schema: z.ZodType<B>, options: JsonOptions): JsonValue<B> => ({
  ...options,
  schema,
  fields: knownFieldsOf(schema),
});

/** Input from a JSON body. */
export function json<B>(schema: z.ZodType<B>, options: JsonOptions): Input<B> {
  const value = jsonValue(schema, options);
  return {
    queries: [],
    parameters: [],
    body: {
      content: { [JSON_TYPE]: { schema, examples: options.examples } },
      isOptional: isOptional(value),
      sizes: (limits) => [wholeOf(limits.bodyBytes), ...partsOf(value, limits), MAY_BE_GZIP].join(' '),
    },
    async read(call) {
      return checkJson(value, await readJson(call.req, call.deps.sizes.bodyBytes), call);
    },
  };
}

/** Check a parsed body. @throws INVALID_REQUEST, TOO_LARGE */
export function checkJson<B>(
  { schema, fields, isStrict, absent, sizes, check }: JsonValue<B>,
  { value = absent === null ? null : {}, bytes }: { value: unknown; bytes: number },
  { req, res, deps }: Call,
): B {
  const unknown: UnknownName[] = [];
  findUnknownFields(fields, value, unknown);
  reportUnknownFields(req, res, unknown, isStrict);
  const input = validate(schema, value);
  checkSizes(sizes, { input, bytes }, deps.sizes);
  check?.({ input, bytes }, deps.sizes);
  return input;
}

/** Whether a body may be absent: its schema accepts the value that then replaces it. */
export const isOptional = ({ schema, absent }: JsonValue<unknown>) =>
  schema.safeParse(absent === null ? null : {}).success;

export const wholeOf = (bytes: number) => `At most ${bytes} bytes, on the wire and inflated.`;

export const partsOf = ({ sizes = [] }: JsonOptions, limits: SizeLimits) =>
  sizes.map((rule) => sentenceOf(rule, limits));

export const MAY_BE_GZIP = 'It may be compressed, with `content-encoding: gzip`.';
