import { spaceId } from '@yardmaster/protocol';
import { z } from 'zod';
import type { SizeLimits } from '../call.js';
import { type HeaderName, REQUEST_HEADERS } from '../input/input.js';
import { JOB_ID, KEY_ID, OPERATION_ID, SPACE_ID } from '../routes/examples.js';
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

/** Parameters in headers, by the names of the headers. */
const HEADER_PARAMETERS = {
  'idempotency-key': inHeader(
    'idempotency-key',
    'Idempotency-Key',
    'A new random text for each job, list of jobs or operation: the same key and body create no second one, as long as the first is kept',
  ),
  'x-delivery-token': {
    ...inHeader(
      'x-delivery-token',
      'x-delivery-token',
      'The `deliveryToken` of the claimed job: when another worker has the job by now, the call changes nothing',
    ),
    example: '0.0.i3v6g6rsa8',
  },
} satisfies Record<HeaderName, unknown>;

/** The `components.parameters`: those of paths and headers. */
export const PARAMETERS = {
  spaceId: inPath('spaceId', 'A space. Avoid `.` and `..`, which many clients remove from a path', {
    schema: spaceId,
    example: SPACE_ID,
  }),
  jobId: inPath('jobId', 'The `id` of a job', { example: JOB_ID }),
  keyId: inPath('keyId', 'The `id` of an API key', { example: KEY_ID }),
  operationId: inPath('operationId', 'The `id` of an operation', { example: OPERATION_ID }),
  ...HEADER_PARAMETERS,
};

/** Return a path as OpenAPI writes it. */
export const templateOf = (path: string) => path.replace(/:(\w+)/g, '{$1}');

/** Return the `parameters` of an operation: those of its path, its query and its headers. */
export function parametersOf({ path, input, header }: Route): unknown[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  return [
    ...[...names, ...(header === undefined ? [] : [header])].map((name) => refTo('parameters', name)),
    ...(input?.queries ?? []).flatMap((one) => queryParameters(jsonSchemaOf(one))),
  ];
}

/** Return the parameters of a query. A repeated parameter is a list, which is OpenAPI's default. */
function queryParameters({ properties = {}, required = [] }: JsonSchema): unknown[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as JsonSchema;
    return { name, in: 'query', required: required.includes(name), description, schema: rest };
  });
}

/** Return the `requestBody` of an operation; null for one that reads no body. */
export function requestBodyOf({ input }: Route, limits: SizeLimits): Record<string, unknown> | null {
  if (!input?.body) return null;
  const { content, list, isOptional, sizes } = input.body;
  const described = Object.entries(content).map(([type, { schema, examples }]) => [
    type,
    { schema: oneOrListOf(schema, list?.schema), examples: namedExamples({ ...examples, ...list?.examples }) },
  ]);
  return { description: sizes(limits), required: !isOptional, content: Object.fromEntries(described) };
}

/** Return the schema of a value, or of that value or a list. */
export function oneOrListOf(one: z.ZodType, list: z.ZodType | undefined): JsonSchema {
  return list === undefined ? jsonSchemaOf(one) : { oneOf: [jsonSchemaOf(one), jsonSchemaOf(list)] };
}
