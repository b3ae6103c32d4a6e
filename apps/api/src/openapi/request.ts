import { logBatch, logEntryInputs, spaceId, waitQuery } from '@yardmaster/protocol';
import { z } from 'zod';
import type { SizeLimits } from '../body/sizes.js';
import { type HeaderName, REQUEST_HEADERS } from '../request-header.js';
import { JOB_ID, KEY_ID, LOG_LINES, OPERATION_ID, SPACE_ID } from '../routes/examples.js';
import type { Route } from '../routes/route.js';
import { JSON_TYPE, type JsonSchema, jsonSchemaOf, namedExamples, refTo } from './schemas.js';

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
export function parametersOf({ path, query, options, header, waitSecondsIn }: Route): unknown[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const queries = [query, options, waitSecondsIn === 'query' ? waitQuery : undefined].filter(
    (one) => one !== undefined,
  );
  return [
    ...[...names, ...(header === undefined ? [] : [header])].map((name) => refTo('parameters', name)),
    ...queries.flatMap((one) => queryParameters(jsonSchemaOf(one))),
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
export function requestBodyOf(route: Route, sizes: SizeLimits): Record<string, unknown> | null {
  const { request = {} } = route.examples;
  if (route.readBody !== undefined) return logsBody(request, sizes);
  if (route.body === undefined) return null;
  const examples = namedExamples({ ...request, ...route.list?.examples.request });
  const content = { [JSON_TYPE]: { schema: oneOrListOf(route.body, route.list?.body), examples } };
  return { description: sizesOf(route, sizes), required: !isOptional(route), content };
}

/** Whether the body may be absent: its schema accepts the value that then replaces it. */
function isOptional({ body, absentBody }: Route): boolean {
  return body?.safeParse(absentBody === null ? null : {}).success === true;
}

/** Return the schema of a value, or of that value or a list. */
export function oneOrListOf(one: z.ZodType, list: z.ZodType | undefined): JsonSchema {
  return list === undefined ? jsonSchemaOf(one) : { oneOf: [jsonSchemaOf(one), jsonSchemaOf(list)] };
}

function sizesOf({ sizeRules = [], list, settlesIn }: Route, sizes: SizeLimits): string {
  const parts = sizeRules.map(({ path, limit }) => {
    const part = path === null ? 'The value' : `\`${path}\``;
    return `${part} is at most ${sizes[limit]} bytes of JSON.`;
  });
  const most = settlesIn === 'outcomes' ? sizes.batchBytes : sizes.bodyBytes;
  const whole = `At most ${most} bytes, on the wire and inflated.`;
  const ofList =
    list === undefined ? [] : [`A list: at most ${sizes.batchBytes} bytes, and ${list.max} ${list.what}s.`];
  return [whole, ...ofList, ...parts, 'It may be compressed, with `content-encoding: gzip`.'].join(' ');
}

/**
 * Return the `requestBody` for batches of logs. NDJSON is described as the list of the values of its lines, as later
 * releases of OpenAPI recommend.
 */
function logsBody(request: Record<string, unknown>, sizes: SizeLimits): Record<string, unknown> {
  const { logWireBytes, logBatchBytes, logEntries, logEntryBytes } = sizes;
  const lines = { schema: jsonSchemaOf(logEntryInputs), examples: namedExamples({ 'Two lines': LOG_LINES }) };
  return {
    description: `At most ${logWireBytes} bytes on the wire, ${logBatchBytes} bytes inflated, and ${logEntries} entries of ${logEntryBytes} bytes of JSON each. The batch may be compressed, with \`content-encoding: gzip\`.`,
    required: true,
    content: {
      [JSON_TYPE]: { schema: jsonSchemaOf(logBatch), examples: namedExamples(request) },
      'application/x-ndjson': lines,
      'application/ndjson': lines,
    },
  };
}
