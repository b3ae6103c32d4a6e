import { scheduleId, spaceId } from '@yardmaster/protocol';
import { z } from 'zod';
import type { SizeLimits } from '../call.js';
import { type HeaderName, REQUEST_HEADERS } from '../input/input.js';
import { JOB_ID, KEY_ID, OPERATION_ID, SCHEDULE_ID, SPACE_ID } from '../routes/examples.js';
import type { Route } from '../routes/route.js';
import { type JsonSchema, jsonSchemaOf, namedExamples, refTo } from './schemas.js';

const inPath = (name: string, description: string, { schema = z.string() as z.ZodType, example = '' }) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: jsonSchemaOf(schema),
  example,
});

const inHeader = (header: HeaderName, name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', pattern: REQUEST_HEADERS[header].pattern.source },
});

/** Header parameters, by header name. */
const HEADER_PARAMETERS = {
  'idempotency-key': inHeader(
    'idempotency-key',
    'Idempotency-Key',
    'Unique random string for each job, list of jobs or operation. A retry with the same key and body returns the first one instead of creating another, for as long as the first one is kept',
  ),
  'x-delivery-token': {
    ...inHeader(
      'x-delivery-token',
      'x-delivery-token',
      'The `deliveryToken` of the claimed job. If another worker has taken over the job, the call changes nothing',
    ),
    example: '0.0.i3v6g6rsa8',
  },
} satisfies Record<HeaderName, unknown>;

/** The `components.parameters`: path and header parameters. */
export const PARAMETERS = {
  spaceId: inPath('spaceId', 'ID of a space. Avoid `.` and `..`, which many clients remove from paths', {
    schema: spaceId,
    example: SPACE_ID,
  }),
  jobId: inPath('jobId', 'ID of a job', { example: JOB_ID }),
  keyId: inPath('keyId', 'ID of an API key', { example: KEY_ID }),
  scheduleId: inPath('scheduleId', 'ID of a schedule in its space', {
    schema: scheduleId,
    example: SCHEDULE_ID,
  }),
  operationId: inPath('operationId', 'ID of an operation', { example: OPERATION_ID }),
  ...HEADER_PARAMETERS,
};

/** Convert a path to OpenAPI's template syntax. */
export const templateOf = (path: string) => path.replace(/:(\w+)/g, '{$1}');

/** Return the `parameters` of an operation: path, query and headers. */
export function parametersOf({ path, input, header }: Route): unknown[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  return [
    ...[...names, ...(header === undefined ? [] : [header])].map((name) => refTo('parameters', name)),
    ...(input?.queries ?? []).flatMap((one) => queryParameters(jsonSchemaOf(one))),
  ];
}

/** Return query parameters. A list means a repeated parameter, which is OpenAPI's default. */
function queryParameters({ properties = {}, required = [] }: JsonSchema): unknown[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: rest };
  });
}

/** Return the `requestBody` of an operation; null if it reads no body. */
export function requestBodyOf({ input }: Route, limits: SizeLimits): Record<string, unknown> | null {
  if (!input?.body) return null;
  const { content, list, isOptional, sizes } = input.body;
  const described = Object.entries(content).map(([type, { schema, examples }]) => [
    type,
    { schema: oneOrListOf(schema, list?.schema), examples: namedExamples({ ...examples, ...list?.examples }) },
  ]);
  return { description: sizes(limits), required: !isOptional, content: Object.fromEntries(described) };
}

/** Return the schema of a value, or, if the list has a schema, of either the value or a list. */
export function oneOrListOf(one: z.ZodType, list: z.ZodType | undefined): JsonSchema {
  return list === undefined ? jsonSchemaOf(one) : { oneOf: [jsonSchemaOf(one), jsonSchemaOf(list)] };
}
