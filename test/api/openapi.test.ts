import { beforeAll, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS, type ErrorCode, streamMessageSchema } from '@yardmaster/protocol';
import { codesOf, JOB_VERBS, type JobVerb } from '../model/index.js';
import { createJob } from '../support/jobs.js';
import { Contract, type Part } from '../support/openapi.js';
import { withService } from '../support/service.js';
import { ENDPOINTS, type Endpoint, endpointOf } from './endpoints.js';

const PATH = '/api/v1/openapi.json';
let contract: Contract;
const service = withService();
beforeAll(async () => {
  contract = new Contract((await service.http.call('GET', PATH)).body);
});

it('serves a document that is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(contract.document)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

it('serves the JSON Schema of stream messages without a key', async () => {
  const { status, headers, body } = await service.http.call('GET', '/api/v1/streams.schema.json');
  expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'public, max-age=300' });
  expect(body).toEqual(streamMessageSchema());
});

it('responds with 304 to a client that has the current OpenAPI document', async () => {
  const { etag } = (await service.http.call('GET', PATH)).headers;
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const { status, text, headers } = await service.http.call('GET', PATH, { headers: { 'if-none-match': known } });
    expect({ status, text, etag: headers.etag }).toEqual({ status: 304, text: '', etag });
  }
  const other = await service.http.call('GET', PATH, { headers: { 'if-none-match': '"other"' } });
  expect(other.status).toBe(200);
});

it('documents exactly the existing endpoints in the OpenAPI document', () => {
  const documented = contract.operations().map(({ method, path }) => `${method} ${path}`);
  const expected = ENDPOINTS.map(({ method, path }) => `${method} /api/v1${path.replace(/:(\w+)/g, '{$1}')}`);
  expect(documented.sort()).toEqual(expected.sort());
  expect(new Set(contract.operations().map(({ operation }) => operation.operationId)).size).toBe(ENDPOINTS.length);
});

it.each(ENDPOINTS)('documents a summary, the scopes and each success of $name', (endpoint) => {
  const { operation } = contract.operation(endpoint);
  expect(operation.summary).toMatch(/^[A-Z]/);
  const schemes = ['apiKey', 'bearer'];
  expect(operation.security).toEqual(
    schemes.flatMap((scheme) =>
      endpoint.scopes.length === 0
        ? [{ [scheme]: [] }]
        : endpoint.scopes.map((scope) => ({ [scheme]: [scope, ...(endpoint.also ?? [])] })),
    ),
  );
  for (const scope of [...endpoint.scopes, ...(endpoint.also ?? [])])
    expect(operation.description).toContain(`\`${scope}\``);
  expect(Object.keys(operation.responses).filter((status) => status < '400')).toEqual(
    ['Create Job', 'Put Schedule', 'Run Schedule'].includes(endpoint.name)
      ? ['200', '201']
      : [`${endpoint.success ?? 200}`],
  );
});

/** Codes of any operation: they depend on the request and on the service, not on the endpoint. */
const ANYWHERE: ErrorCode[] = [
  ...(['INVALID_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT'] as const),
  ...(['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE', 'OVERLOADED'] as const),
];
const BODY: ErrorCode[] = ['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

/**
 * Codes of an operation that do not follow from its path, from its body, or from the statuses and tokens that the model
 * refuses. They are written here on purpose, from the reference and the docs of the store's verbs.
 */
const MORE: Record<string, ErrorCode[]> = {
  'Create Job': [
    ...(['JOB_NOT_UNIQUE', 'SPACE_FULL', 'IDEMPOTENCY_MISMATCH', 'TOO_MANY_WAITERS'] as const),
    ...(['STORAGE_FULL', 'STORAGE_UNSAFE'] as const),
  ],
  'Poll for Jobs': ['TOO_MANY_WAITERS'],
  'Get Job': ['TOO_MANY_WAITERS'],
  'Report Progress': ['STORAGE_FULL'],
  Checkpoint: ['STORAGE_FULL'],
  'Custom Event': ['STORAGE_FULL'],
  'Append Logs': ['SPACE_FULL', 'STORAGE_FULL'],
  'Requeue Job': ['JOB_NOT_UNIQUE'],
  'Copy Job': ['SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE'],
  'Redeliver Callback': ['STORAGE_FULL'],
  'Start Operation': ['IDEMPOTENCY_MISMATCH', 'TOO_MANY_OPERATIONS', 'STORAGE_FULL'],
  'Get Operation': ['OPERATION_NOT_FOUND'],
  'Cancel Operation': ['OPERATION_NOT_FOUND'],
  'Put Schedule': ['SCHEDULE_OWNED', 'TOO_MANY_SCHEDULES', 'STORAGE_FULL'],
  'Put Schedules': ['SCHEDULE_OWNED', 'TOO_MANY_SCHEDULES', 'STORAGE_FULL'],
  'Get Schedule': ['SCHEDULE_NOT_FOUND'],
  'Pause Schedule': ['SCHEDULE_NOT_FOUND'],
  'Delete Schedule': ['SCHEDULE_NOT_FOUND'],
  'Run Schedule': [
    ...(['SCHEDULE_NOT_FOUND', 'SCHEDULE_RUNNING', 'JOB_NOT_UNIQUE', 'SPACE_FULL'] as const),
    ...(['STORAGE_FULL', 'STORAGE_UNSAFE'] as const),
  ],
  'Create Key': ['TOO_MANY_KEYS', 'STORAGE_FULL'],
  'Rotate Key': ['KEY_NOT_FOUND'],
  'Revoke Key': ['KEY_NOT_FOUND'],
};

/** Return the verb of the model that an endpoint of a job is; undefined for one that changes none. */
function verbOf({ method, path }: Endpoint): JobVerb | undefined {
  if (method === 'DELETE') return path === '/jobs/:jobId' ? 'delete' : undefined;
  return method === 'POST' && path.startsWith('/jobs/')
    ? JOB_VERBS.find((verb) => path.endsWith(`/${verb}`))
    : undefined;
}

/** Return the codes of an operation, in addition to those of any. */
function codesOfEndpoint(endpoint: Endpoint): Set<ErrorCode> {
  const verb = verbOf(endpoint);
  return new Set([
    ...(endpoint.path.includes(':jobId') ? (['JOB_NOT_FOUND'] as const) : []),
    ...(endpoint.body === undefined ? [] : BODY),
    ...(verb === undefined ? [] : codesOf(verb)),
    ...(MORE[endpoint.name] ?? []),
  ]);
}

it.each(ENDPOINTS)('documents each error that $name may return, with its status', (endpoint) => {
  const operation = contract.operation(endpoint);
  const documented = Object.keys(operation.operation.responses).flatMap((status) =>
    contract.codesOf(operation, status).map((code) => `${status} ${code}`),
  );
  const expected = [...ANYWHERE, ...codesOfEndpoint(endpoint)]
    .filter((code) => code !== 'FORBIDDEN' || endpoint.scopes.length > 0)
    .map((code) => `${ERRORS[code].status} ${code}`);
  expect(documented.sort()).toEqual([...expected, '431 INVALID_REQUEST'].sort());
});

/** Return every body that is documented, with the pointer of its schema. */
function bodies(): { pointer: string; part: Part; type: string }[] {
  return contract.operations().flatMap(({ pointer, operation }) => {
    const places = Object.keys(operation.responses).map((status) => `${pointer}/responses/${status}`);
    if (operation.requestBody) places.push(`${pointer}/requestBody`);
    return places.flatMap((place) => {
      const { part, pointer: at } = contract.resolved(place);
      return Object.keys(part.content).map((type) => ({
        pointer: `${at}/content/${type.replace('/', '~1')}/schema`,
        part: part.content[type],
        type,
      }));
    });
  });
}

it('documents valid examples for every body in the OpenAPI document', () => {
  for (const { pointer, part, type } of bodies()) {
    const values = Object.values(part.examples as Part).map(({ value }: Part) => value);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const lines = (text: string) => text.trim().split('\n');
      const parsed = type === 'application/json' ? value : lines(value).map((line) => JSON.parse(line));
      expect({ pointer, value, faults: contract.faults(pointer, parsed) }).toEqual({ pointer, value, faults: [] });
    }
  }
});

/** Return where a part of the document has an empty text. */
function emptyTexts(part: unknown, at = ''): string[] {
  if (part === '') return /\/(default|value|example|enum\/\d+)\b|\/value\//.test(at) ? [] : [at];
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => emptyTexts(value, `${at}/${key}`));
}

it('leaves no text in the OpenAPI document empty', () => {
  expect(emptyTexts(contract.document)).toEqual([]);
});

/** Return where a part of the document has a number that need not be whole. */
function fractionsIn(part: Part, at = ''): string[] {
  if (typeof part !== 'object' || part === null) return [];
  if (part.type === 'number' || part.type?.includes?.('number')) return [at];
  return Object.entries(part).flatMap(([key, value]) => fractionsIn(value, `${at}/${key}`));
}

it('documents whole numbers as integers, and only measured values as fractions', () => {
  const places = fractionsIn(contract.document).map((at) => /(\w+)(\/(anyOf|oneOf)\/\d+)?$/.exec(at)?.[1]);
  expect([...new Set(places)].sort()).toEqual([
    ...[
      'completedSeconds',
      'deadSeconds',
      'delaySeconds',
      'everySeconds',
      'factor',
      'items',
      'jitter',
      'killedSeconds',
    ],
    ...[
      'maxDelaySeconds',
      'maxRunSeconds',
      'missedWithinSeconds',
      'oldestPendingAgeSeconds',
      'overlapSeconds',
      'perSecond',
    ],
    ...[
      'percent',
      'retryAfterSeconds',
      'schema',
      'spreadSeconds',
      'startWithinSeconds',
      'sum',
      'timeoutSeconds',
      'waitSeconds',
    ],
  ]);
});

/** Return where the document has a schema that accepts anything. */
function openSchemas(part: Part, at = ''): string[] {
  if (typeof part !== 'object' || part === null || /\/(value|default|example)$/.test(at)) return [];
  const isSchema = /^\/\w+$|\/(schema|items|additionalProperties|(anyOf|oneOf)\/\d+|properties\/\w+)$/.test(at);
  if (isSchema && Object.keys(part).every((key) => /^(description|default)$/.test(key))) return [at];
  return Object.entries(part).flatMap(([key, value]) => openSchemas(value, `${at}/${key}`));
}

it('documents a body without a type only if any JSON is allowed', () => {
  const { components, paths } = contract.document;
  const ofComponents = openSchemas(components.schemas).map((at) => at.replace('/properties', ''));
  const ofJobs = ['/Job/result', '/ListedJob/result', '/JobWithEvents/result', '/JobEvent/data'];
  const ofOutcomes = ['/CompleteOutcome/result', '/CheckpointOutcome/data', '/EventOutcome/data'];
  const expected = ['/Completion/result', ...ofJobs, '/ClaimedJob/checkpoint', ...ofOutcomes];
  expect(ofComponents.sort()).toEqual(expected.sort());
  const ofBodies = openSchemas(paths).map((at) => /jobId\}\/(\w+)\/post\/requestBody/.exec(at)?.[1] ?? at);
  expect(ofBodies).toEqual(['checkpoint', 'event']);
});

// fields.test.ts tests this for the other bodies; a batch of logs is split by code of our own.
it.each<[what: string, status: number, batches: unknown[]]>([
  ['takes', 200, [['x'], [''], { logs: ['x', { message: 'y' }] }, [{ message: '', level: 'fatal', source: '' }]]],
  ['takes', 200, [[{ message: 'x', timestamp: '2026-01-31T10:30:04.784+01:00', metadata: {} }]]],
  ['refuses', 400, [null, 5, 'x', true]],
  ['refuses', 400, [[], {}, { logs: [] }, [1], [{}], [{ message: 1 }], [{ message: 'x', level: 'loud' }]]],
  [
    'refuses',
    400,
    [[{ message: 'x', metadata: [] }], [{ message: 'x', timestamp: 'now' }], [{ message: 'x', source: 1 }]],
  ],
])('documents an example batch of logs that the API %s with %i', async (_, status, batches) => {
  const { id } = await createJob(service, 'documented');
  const { pointer } = contract.operation(endpointOf('Append Logs'));
  const schema = `${pointer}/requestBody/content/application~1json/schema`;
  for (const body of batches) {
    const response = await service.call('POST', `/jobs/${id}/logs`, { body });
    const isDocumented = contract.faults(schema, body).length === 0;
    expect({ body, status: response.status, isDocumented }).toEqual({ body, status, isDocumented: status === 200 });
  }
});
