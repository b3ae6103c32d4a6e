import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ROUTES } from '@yardmaster/api';
import { ERRORS, type ErrorCode, refusalOf, STATUSES, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { Contract, type DocumentedOperation, type Part } from '../support/openapi.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let contract: Contract;
beforeAll(async () => {
  service = await startService();
  contract = new Contract((await service.call('GET', '/openapi.json')).body);
});
afterAll(() => service.stop());

const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path.replace('/api/v1', '').replace(/\{(\w+)\}/g, ':$1')}`;

const operation = (name: string) => {
  const found = contract.operations().find((one) => nameOf(one) === name);
  if (found === undefined) throw new Error(`${name} is not documented`);
  return found;
};

/** Codes that an operation documents, by status. */
function codesOf({ operation, pointer }: DocumentedOperation): Record<string, ErrorCode[]> {
  const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
  return Object.fromEntries(
    errors.map((status) => {
      const { part } = contract.resolved(`${pointer}/responses/${status}`);
      return [status, part.content['application/json'].schema.allOf[1].properties.code.enum];
    }),
  );
}

it('is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(contract.document)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

it('has every route and nothing else', () => {
  expect(contract.operations().map(nameOf).sort()).toEqual(ROUTES.map(nameOf).sort());
});

it('gives every operation a name, words, the scopes of its route and a success', () => {
  const ids = new Set<string>();
  for (const route of ROUTES) {
    const { operation: documented } = operation(nameOf(route));
    ids.add(documented.operationId);
    expect(documented.summary).toMatch(/^[A-Z]/);
    expect(documented.security).toEqual(route.scopes.map((scope) => ({ apiKey: [scope] })));
    for (const scope of route.scopes) expect(documented.description).toContain(`\`${scope}\``);
    const success = documented.responses[route.created ? '201' : '200'];
    expect(success.content['application/json'].schema).toBeDefined();
    expect(Object.keys(documented.responses).filter((status) => status < '400')).toHaveLength(1);
  }
  expect(ids.size).toBe(ROUTES.length);
});

/** Codes of any operation: they have to do with the request and with us, not with what is asked for. */
const ANYWHERE: ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'INTERNAL',
  'UNAVAILABLE',
];
const BODY: ErrorCode[] = ['TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const JOB: ErrorCode[] = ['JOB_NOT_FOUND'];
const HEARTBEAT: ErrorCode[] = [...JOB, 'JOB_NOT_RUNNING', 'JOB_KILLED'];

/** Written down again on purpose, from the reference and from what the verbs of the store say they throw. */
const REFUSALS: Record<string, ErrorCode[]> = {
  'POST /spaces/:spaceId/jobs': [...BODY, 'STORAGE_FULL'],
  'GET /spaces/:spaceId/jobs': [],
  'POST /spaces/:spaceId/jobs/poll': BODY,
  'GET /spaces/:spaceId/stats': [],
  'POST /jobs/:jobId/claim': JOB,
  'GET /jobs/:jobId': JOB,
  'GET /jobs/:jobId/progress': JOB,
  'GET /jobs/:jobId/logs': JOB,
  'POST /jobs/:jobId/ack': [...JOB, 'JOB_NOT_DELIVERED'],
  'POST /jobs/:jobId/progress': [...HEARTBEAT, ...BODY, 'STORAGE_FULL'],
  'POST /jobs/:jobId/checkpoint': [...HEARTBEAT, ...BODY, 'STORAGE_FULL'],
  'POST /jobs/:jobId/event': [...HEARTBEAT, ...BODY, 'STORAGE_FULL'],
  'POST /jobs/:jobId/keepalive': HEARTBEAT,
  'POST /jobs/:jobId/logs': [...JOB, ...BODY, 'STORAGE_FULL'],
  'POST /jobs/:jobId/complete': [...JOB, 'JOB_NOT_RUNNING', ...BODY],
  'POST /jobs/:jobId/fail': [...JOB, 'JOB_NOT_RUNNING', ...BODY],
  'POST /jobs/:jobId/kill': [...JOB, 'JOB_ENDED', ...BODY],
  'POST /jobs/:jobId/callback/redeliver': [...JOB, 'JOB_NOT_ENDED', 'NO_CALLBACK', 'STORAGE_FULL'],
  'POST /keys': [...BODY, 'STORAGE_FULL'],
  'GET /keys': [],
  'DELETE /keys/:keyId': ['KEY_NOT_FOUND'],
};

describe('the errors of an operation', () => {
  it.each(Object.keys(REFUSALS))('%s has those that it may answer, each with its status', (name) => {
    const { 431: tooLong, ...codes } = codesOf(operation(name));
    expect(tooLong).toEqual(['INVALID_REQUEST']);
    expect(Object.values(codes).flat().sort()).toEqual([...ANYWHERE, ...(REFUSALS[name] as ErrorCode[])].sort());
    for (const [status, ofStatus] of Object.entries(codes))
      for (const code of ofStatus) expect(`${code} ${ERRORS[code].status}`).toBe(`${code} ${status}`);
  });

  it('are those of every route', () => {
    expect(Object.keys(REFUSALS).sort()).toEqual(ROUTES.map(nameOf).sort());
  });

  it('are, for what moves a job, those of the transitions', () => {
    const triggers: Trigger[] = ['ack', 'progress', 'checkpoint', 'event', 'keepalive', 'complete', 'fail', 'kill'];
    for (const trigger of triggers) {
      const refused = STATUSES.filter(
        (status) => !TRANSITIONS.some((row) => row.trigger === trigger && row.from.includes(status)),
      );
      const codes = new Set(refused.map((status) => refusalOf(trigger, status)));
      expect(codesOf(operation(`POST /jobs/:jobId/${trigger}`))['409']?.sort()).toEqual([...codes].sort());
    }
  });
});

/** Every body that is documented, with the pointer of its schema. */
function* bodies(): Generator<{ pointer: string; part: Part; type: string }> {
  for (const { pointer, operation } of contract.operations()) {
    const places = Object.keys(operation.responses).map((status) => `${pointer}/responses/${status}`);
    if (operation.requestBody) places.push(`${pointer}/requestBody`);
    for (const place of places) {
      const { part, pointer: at } = contract.resolved(place);
      for (const type of Object.keys(part.content))
        yield { pointer: `${at}/content/${type.replace('/', '~1')}`, part: part.content[type], type };
    }
  }
}

it('has examples for every body, and each of them is valid by its schema', () => {
  for (const { pointer, part, type } of bodies()) {
    const values = Object.values(part.examples as Part).map(({ value }: Part) => value);
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const parsed =
        type === 'application/json'
          ? value
          : value
              .trim()
              .split('\n')
              .map(JSON.parse as never);
      expect({ pointer, value, faults: contract.faults(`${pointer}/schema`, parsed) }).toEqual({
        pointer,
        value,
        faults: [],
      });
    }
  }
});

it('shows no error without its code, and every code with the status that it has', () => {
  for (const { part } of bodies()) {
    for (const { value } of Object.values(part.examples as Part) as Part[]) {
      if (value?.code !== undefined) expect(ERRORS).toHaveProperty(value.code);
    }
  }
});

/** Words that constrain nothing. */
const ANNOTATIONS = ['description', 'default'];

/** Where the document has a schema that takes anything: what a function checks, and nobody has put into words. */
function openSchemas(part: Part, at = ''): string[] {
  if (typeof part !== 'object' || part === null || /\/(value|default|example)$/.test(at)) return [];
  const isSchema = /\/(schemas\/\w+|schema|items|additionalProperties|(anyOf|oneOf)\/\d+|properties\/\w+)$/.test(at);
  if (isSchema && Object.keys(part).every((key) => ANNOTATIONS.includes(key))) return [at];
  return Object.entries(part).flatMap(([key, value]) => openSchemas(value, `${at}/${key}`));
}

it('takes or gives anything only where any JSON is meant', () => {
  const ofComponents = openSchemas(contract.document.components.schemas, '/schemas');
  expect(ofComponents.map((at) => at.replace('/schemas/', ''))).toEqual([
    'Completion/properties/result',
    'Job/properties/result',
    'ListedJob/properties/result',
    'JobWithEvents/properties/result',
    'JobEvent/properties/data',
    'ClaimedJob/properties/checkpoint',
  ]);
  const bodiesOf = openSchemas(contract.document.paths);
  expect(bodiesOf.map((at) => /jobs\/\{jobId\}\/(\w+)\/post\/requestBody/.exec(at)?.[1] ?? at)).toEqual([
    'checkpoint',
    'event',
  ]);
});

it('shows the limits of its own process', async () => {
  const small = await startService({ MAX_BODY_BYTES: '54321', MAX_LOG_ENTRIES: '77', DELIVERY_TIMEOUT_SECONDS: '12' });
  try {
    const { body } = await small.call('GET', '/openapi.json');
    expect(body.paths['/api/v1/spaces/{spaceId}/jobs'].post.requestBody.description).toContain('54321 bytes');
    expect(body.paths['/api/v1/jobs/{jobId}/logs'].post.requestBody.description).toContain('77 entries');
    expect(body.info.description).toContain('| 12 s |');
  } finally {
    await small.stop();
  }
});
