import { beforeAll, describe, expect, it } from '@jest/globals';
import { STATUSES } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { Contract, type Part } from '../support/openapi.js';
import { withService } from '../support/service.js';
import { sharedService } from '../support/shared-service.js';
import { callEndpoint, ENDPOINTS, endpointOf, MADE, stateOf, type Target, targetFor, UNKNOWN } from './endpoints.js';

// Rules for the fields of each body: accepted values, refused values and their errors. The OpenAPI document must agree
// wherever JSON Schema can express the rule.

const service = withService();
/** A running job that every refused call names; no refused call may change it. */
let target: Target;
let before: unknown;
/** The OpenAPI document; fields that it does not name are allowed in a request. */
let contract: Contract;
beforeAll(async () => {
  target = { ...UNKNOWN, spaceId: 'of-fields', jobId: await jobIn(service, 'running', 'of-fields') };
  before = await stateOf(service, target);
  contract = new Contract((await service.call('GET', '/openapi.json')).body, { isClosed: false });
});

const documentTakes = (name: string, body: unknown) => {
  const { pointer } = contract.operation(endpointOf(name));
  return contract.faults(`${pointer}/requestBody/content/application~1json/schema`, body).length === 0;
};

const detailOf = (message: string) => ({ path: /^(?:unknown field )?([^ ,]*)/.exec(message)?.[1], message });
/** Return the response to a request with these faults. */
const refusal = (...errors: string[]) => ({
  status: 400,
  body: { error: errors[0], code: 'INVALID_REQUEST', ...(errors.length > 1 && { details: errors.map(detailOf) }) },
});
const summary = ({ status, body }: { status: number; body: unknown }) => ({ status, body });

/** Shorten a text so that a title fits on a line. */
const short = (text: string) => ([...text].length > 70 ? `${[...text].slice(0, 70).join('')}…` : text);

interface Fault {
  /** The body as it is sent. */
  text: string;
  errors: string[];
}

/** Describe a refused body. @param body an object, or JSON as it is written */
const fault = (body: object | string, ...errors: string[]): Fault => ({
  text: typeof body === 'string' ? body : JSON.stringify(body),
  errors,
});

/** Describe several wrong values of one field, all with the same error, in addition to other fields. */
const values = (field: string, rule: string, wrong: unknown[], rest: object = {}): Fault[] =>
  wrong.map((value) => fault({ ...rest, [field]: value }, `${field} ${rule}`));

const numbered = <T>(count: number, value: T) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, value]));
const names = (count: number) => Object.keys(numbered(count, 0));
const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);

const REQUIRED = 'is required';
const STRING = 'must be a string';
const OBJECT = 'must be an object';
const NAME = 'must be 1 to 128 characters';
const BEYOND = 'must not contain a number beyond the range of a double';
const DEEP = 'must not nest deeper than 64 levels';
const MAX_RETRIES = 'must be an integer between 0 and 100';
const TIMEOUT = 'must be a number above 0 and at most 86400';
const CALLBACK_URL = 'must be an http or https URL without a username or password';
const COUNT = 'must be an integer of at least 1';
const WAIT = 'must be a number of at least 0, in decimal notation';
const FILTER = 'must be a string or an array of strings';
const FILTER_LIST = 'must be an array of strings';
const PERCENT = 'must be between 0 and 100';
const SPACE_ID = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -';
const EXPIRES = 'must be an ISO 8601 timestamp with a time zone';
const SCOPE =
  'must be one of jobs:create, jobs:read, jobs:read:progress, jobs:poll, jobs:ack, jobs:progress, jobs:event, ' +
  'jobs:complete, jobs:fail, jobs:kill, jobs:manage, jobs:keepalive, jobs:worker, schedules:manage, spaces:manage, ' +
  'keys:manage, jobs:write';

const TTL = 'ttlSeconds must be an integer between 1 and 31622400';
const TTL_GOES = 'ttlSeconds is required with until: expired, and refused otherwise';
const DELAY = 'must be a number between 0 and 31622400';
const RETRY_DELAY = 'must be a number between 0 and 604800';
const RETRY_DELAYS = 'must be a number or an array of 1 to 20 numbers';
const PRIORITY = 'must be an integer between -604800 and 604800';
const TOKEN = { scope: 'jobs:read', tag: 'a' };
const NO_JOB = `00${'a'.repeat(26)}`;
const NOT_BOTH = 'delaySeconds cannot be combined with scheduledFor';
const ENDS = 'must be a list of at least one of completed, dead, killed';
/** Integers beyond 2^53. Each is one fault. */
const HUGE = [1e30, -1e30];
const NOT_TIMES = ['', 'tomorrow', '2030-01-01', '2030-01-01T00:00:00', '2030-02-30T00:00:00Z', 1_900_000_000, [], {}];
const retryFault = (retry: object, error: string) => fault({ ...work, retry }, `retry.${error}`);

const UNIQUE_FAULTS: [unique: object, error: string][] = [
  [{}, 'key is required'],
  [{ key: 7 }, 'key must be a string'],
  ...['', 'x'.repeat(257), '🚂'.repeat(257)].map((key): [object, string] => [
    { key },
    'key must be 1 to 256 characters',
  ]),
  [{ key: '\ud800' }, 'key must be well-formed Unicode'],
  [{ key: 'k', until: 'never' }, 'until must be one of ended, started, expired'],
  [{ key: 'k', onConflict: 'wait' }, 'onConflict must be one of return, reject, replace'],
  ...[0, 31_622_401, 1.5, '60'].map((ttlSeconds): [object, string] => [
    { key: 'k', until: 'expired', ttlSeconds },
    TTL,
  ]),
  ...[{ until: 'expired' }, { ttlSeconds: 5 }, { until: 'started', ttlSeconds: 5 }].map((rest): [object, string] => [
    { key: 'k', ...rest },
    TTL_GOES,
  ]),
];

/** Faults that the document describes in sentences, because JSON Schema cannot express them. */
const IN_SENTENCES =
  /well-formed|required with until|2030-02-30|nest deeper|beyond the range|bytes in total|is repeated|in the future|__proto__|:99999|control characters|or tag or spaceId|combined with tag|with action|goes with action|"(Host|Content-Length|TRANSFER-ENCODING)":|"count":1e400|01 00:00| cron |IANA|before startsAt|a duplicate|owner of the call|combined with cron|everySeconds is req/;

const OUTCOMES = 'must be an array of objects';

const work = { name: 'work' };
const half = { percent: 50, message: 'half' };
const requeue = { action: 'requeue', filter: { status: 'dead' } };
const inFilter = (filter: object, error: string) =>
  fault({ ...requeue, filter: { ...requeue.filter, ...filter } }, `filter.${error}`);
const reader = { name: MADE, scopes: ['jobs:read'] };

const FORBIDDEN_HEADERS = [
  ...['host', 'Host', 'content-length', 'Content-Length', 'transfer-encoding', 'TRANSFER-ENCODING', 'connection'],
  ...['keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['expect', '__proto__', 'webhook-id', 'Webhook-Timestamp', 'WEBHOOK-SIGNATURE', 'webhook-', 'wEbHoOk-x'],
];
const header = (name: string, value: unknown) => ({ ...work, callbackHeaders: { 'x-fine': 'v', [name]: value } });
const NOT_URLS = [
  ...['', '/relative', 'example.com/no-scheme', '//example.com', 'ftp://example.com/', 'file:///etc/passwd'],
  ...['javascript:alert(1)', 'http://user@example.com/', 'http://:password@example.com/'],
  ...['https://user:password@example.com/', 'http://', 'http://a b/', 'http://example.com:99999/'],
  'http://example.com/half-a-character-\ud83d',
];

const filterFaults = (field: string, rule: string, wrong: unknown[]): Fault[] => [
  ...values(field, rule, wrong),
  ...values(field, 'must have at most 100 names', [names(101)]),
  ...[5, {}].map((entry) => fault({ [field]: ['fine', entry] }, `${field}[1] ${STRING}`)),
  ...['', 'x'.repeat(129)].map((entry) => fault({ [field]: ['fine', entry] }, `${field}[1] ${NAME}`)),
  ...['\ud800', 'a\udfff'].map((entry) =>
    fault({ [field]: ['fine', entry] }, `${field}[1] must be well-formed Unicode`),
  ),
];

const stage = (value: unknown, error: string) =>
  fault({ ...half, subProgress: { fine: { percent: 1 }, build: value } }, `subProgress.build${error}`);

const ANY_JSON: Fault[] = [
  fault('1e400', `body ${BEYOND}`),
  fault('{"a":[-1e400]}', `body ${BEYOND}`),
  fault('9'.repeat(400), `body ${BEYOND}`),
  fault(levels(65), `body ${DEEP}`),
  fault(levels(100_000), `body ${DEEP}`),
  fault(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, `body ${DEEP}`),
];

const REFUSED: Record<string, Fault[]> = {
  'Create Job': [
    fault({}, `name ${REQUIRED}`),
    fault('{"__proto__":{"name":"work"}}', `name ${REQUIRED}`),
    ...values('name', REQUIRED, [null, '']),
    ...values('name', STRING, [5, true, ['work'], { a: 1 }]),
    ...values('name', NAME, ['x'.repeat(129), '🚂'.repeat(129), 'x'.repeat(100_000)]),
    ...values('name', 'must be well-formed Unicode', ['\ud800', 'a\udfff']),
    ...values('payload', OBJECT, [[], [1], 'text', 5, true, false, 0, ''], work),
    fault(`{"name":"work","payload":{"a":${levels(64)}}}`, `payload ${DEEP}`),
    fault(`{"name":"work","payload":{"a":${levels(100_000)}}}`, `payload ${DEEP}`),
    fault('{"name":"work","payload":{"a":[1e400]}}', `payload ${BEYOND}`),
    ...values('maxRetries', MAX_RETRIES, [-1, 101, 1.5, '3', true, [], {}], work),
    fault('{"name":"work","maxRetries":1e400}', `maxRetries ${MAX_RETRIES}`),
    ...values('timeoutSeconds', TIMEOUT, [0, -1, 86_400.5, 1e9, '300', false, [], {}], work),
    fault('{"name":"work","timeoutSeconds":1e400}', `timeoutSeconds ${TIMEOUT}`),
    ...values('callbackUrl', CALLBACK_URL, NOT_URLS, work),
    ...values('callbackUrl', STRING, [5, [], {}, true], work),
    ...values('callbackUrl', 'must be at most 2048 characters', [`http://example.com/${'a'.repeat(2030)}`], work),
    ...values('callbackHeaders', OBJECT, [[], 'x: y', 5, true], work),
    ...values('callbackHeaders', 'must have at most 20 headers', [numbered(21, 'v')], work),
    ...values('callbackHeaders', 'must be at most 4096 bytes in total', [{ x: 'v'.repeat(4096) }], work),
    ...values('callbackHeaders', 'must be at most 4096 bytes in total', [numbered(16, 'v'.repeat(254))], work),
    ...FORBIDDEN_HEADERS.map((name) =>
      fault(header(name, 'v'), `callbackHeaders.${name} is a header that you cannot set`),
    ),
    ...['', 'a b', 'a:b', 'a\r\nb', 'é', 'a\0'].map((name) =>
      fault(header(name, 'v'), `callbackHeaders.${name} is not a valid header name`),
    ),
    ...[5, null, true, ['v'], { a: 'v' }].map((value) => fault(header('x-a', value), `callbackHeaders.x-a ${STRING}`)),
    // Values that cannot be turned into a string, or only through too many levels.
    fault('{"name":"x","callbackHeaders":{"a":{"toString":1}}}', `callbackHeaders.a ${STRING}`),
    fault(`{"name":"x","callbackHeaders":{"a":${levels(200_000)}}}`, `callbackHeaders.a ${STRING}`),
    ...['a\r\nhost: b', 'a\nb', 'a\rb', 'a\0b', '\x7f', '€'].map((value) =>
      fault(header('x-a', value), 'callbackHeaders.x-a contains a character that is not allowed in a header'),
    ),
    fault({ ...work, callbackHeaders: { 'x-a': 'v', 'X-A': 'v' } }, 'callbackHeaders.X-A is repeated'),
    ...values('unique', OBJECT, ['k', 5, [], true], work),
    ...UNIQUE_FAULTS.map(([unique, error]) => fault({ ...work, unique }, `unique.${error}`)),
    ...values('scheduledFor', EXPIRES, NOT_TIMES, work),
    ...values('delaySeconds', DELAY, [-0.001, 31_622_400.5, '5', true, [], {}], work),
    fault('{"name":"work","delaySeconds":1e400}', `delaySeconds ${DELAY}`),
    fault({ ...work, delaySeconds: 0, scheduledFor: '2030-01-01T00:00:00Z' }, NOT_BOTH),
    ...values('maxRunSeconds', 'must be a number above 0 and at most 604800', [0, -1, 604_801, '5', []], work),
    ...values('startWithinSeconds', 'must be a number above 0 and at most 31622400', [0, -1, 31_622_401, '5'], work),
    ...values('priority', PRIORITY, [-604_801, 604_801, 0.5, '5', []], work),
    ...values('tags', 'must be an array of strings', ['eu', 5, {}, true], work),
    fault({ ...work, tags: ['eu', ''] }, 'tags[1] must be 1 to 64 characters'),
    ...values('callbackOn', ENDS, [[], 'dead', 5, {}, Array(11).fill('dead')], work),
    ...['retried', 5, null].map((end) =>
      fault({ ...work, callbackOn: ['dead', end] }, 'callbackOn[1] must be one of completed, dead, killed'),
    ),
    ...values('retry', OBJECT, [5, [5], 'often', true], work),
    retryFault({}, `delaySeconds ${REQUIRED}`),
    ...['5', null, {}, []].map((delaySeconds) => retryFault({ delaySeconds }, `delaySeconds ${RETRY_DELAYS}`)),
    ...[-1, 604_800.5].map((delaySeconds) => retryFault({ delaySeconds }, `delaySeconds ${RETRY_DELAY}`)),
    retryFault({ delaySeconds: [1, '2'] }, `delaySeconds[1] ${RETRY_DELAY}`),
    retryFault({ delaySeconds: Array(21).fill(1) }, 'delaySeconds must have at most 20 delays'),
    ...[0, 0.9, 11, '2'].map((factor) =>
      retryFault({ delaySeconds: 1, factor }, 'factor must be a number between 1 and 10'),
    ),
    ...[1, 2].map((factor) =>
      retryFault({ delaySeconds: [1], factor }, 'factor cannot be combined with a list of delays'),
    ),
    ...[-1, 604_801, '9'].map((maxDelaySeconds) =>
      retryFault({ delaySeconds: 1, maxDelaySeconds }, `maxDelaySeconds ${RETRY_DELAY}`),
    ),
    ...[-0.1, 1.1, '0'].map((jitter) =>
      retryFault({ delaySeconds: 1, jitter }, 'jitter must be a number between 0 and 1'),
    ),
    fault(
      { name: 5, payload: [], maxRetries: -1, timeoutSeconds: 0, callbackUrl: 'x', callbackHeaders: { te: 'v', a: 5 } },
      `name ${STRING}`,
      `payload ${OBJECT}`,
      `maxRetries ${MAX_RETRIES}`,
      `timeoutSeconds ${TIMEOUT}`,
      `callbackUrl ${CALLBACK_URL}`,
      'callbackHeaders.te is a header that you cannot set',
      `callbackHeaders.a ${STRING}`,
    ),
  ],
  'Settle Jobs': [
    fault({}, 'outcomes is required'),
    ...values('outcomes', OUTCOMES, [5, 'x', null, true, {}]),
    fault({ outcomes: Array(101).fill({ jobId: 'x', action: 'ack' }) }, 'outcomes must have at most 100 outcomes'),
  ],
  'Poll for Jobs': [
    ...values('count', COUNT, [0, -1, 1.5, '5', 'abc', true, [], {}]),
    ...values('waitSeconds', WAIT, [-1, -0.1, '5', true, [], {}]),
    fault('{"count":1e400}', `count ${COUNT}`),
    ...values('settle', OUTCOMES, [5, 'x', true, {}]),
    fault({ settle: Array(51).fill({ jobId: 'x', action: 'ack' }) }, 'settle must have at most 50 outcomes'),
    ...values('autoAck', 'must be a boolean', [0, 'true']),
    ...values('ackWithinSeconds', 'must be an integer between 1 and 3600', [0, -1, 1.5, 3601, '5', true]),
    ...values('workerId', STRING, [5, true, {}]),
    ...values('workerId', NAME, ['', 'x'.repeat(129)]),
    ...filterFaults('type', FILTER, [5, true, {}]),
    ...filterFaults('name', FILTER, [5, true, {}]),
    ...filterFaults('types', FILTER_LIST, [5, true, {}, 'work']),
    ...filterFaults('names', FILTER_LIST, [5, true, {}, 'work']),
    fault({ types: ['work'], name: 5 }, `name ${FILTER}`), // A filter that another one overrides.
    fault(
      { count: 0, types: 'work', names: [1, 'fine', 2] },
      `count ${COUNT}`,
      `types ${FILTER_LIST}`,
      `names[0] ${STRING}`,
      `names[2] ${STRING}`,
    ),
  ],
  'Report Progress': [
    fault({ message: 'half' }, `percent ${REQUIRED}`),
    ...values('percent', PERCENT, [-0.001, -1, 100.001, 101, 1e9], { message: 'half' }),
    ...values('percent', 'must be a number', ['50', null, true, [50], {}], { message: 'half' }),
    fault('{"percent":1e400,"message":"half"}', `percent ${PERCENT}`),
    fault({ percent: 50 }, `message ${REQUIRED}`),
    ...values('message', 'must not be empty', [''], { percent: 50 }),
    ...values('message', STRING, [5, null, true, ['half'], {}], { percent: 50 }),
    ...values('subProgress', OBJECT, [[], 'half', 5, true], half),
    ...values('subProgress', 'must have at most 50 stages', [numbered(51, { percent: 1 })], half),
    stage({}, `.percent ${REQUIRED}`),
    stage({ percent: 101 }, `.percent ${PERCENT}`),
    stage({ percent: -1 }, `.percent ${PERCENT}`),
    stage({ percent: '5' }, '.percent must be a number'),
    stage({ percent: 5, message: 5 }, `.message ${STRING}`),
    stage({ percent: 5, message: 5 }, `.message ${STRING}`),
    ...[null, 5, []].map((value) => stage(value, ` ${OBJECT}`)),
    fault(
      '{"percent":50,"message":"half","subProgress":{"__proto__":{"percent":101}}}',
      `subProgress.__proto__.percent ${PERCENT}`,
    ),
    fault(
      { percent: 101, message: '', subProgress: { a: { percent: -1, message: 5 }, b: 5 } },
      `percent ${PERCENT}`,
      'message must not be empty',
      `subProgress.a.percent ${PERCENT}`,
      `subProgress.a.message ${STRING}`,
      `subProgress.b ${OBJECT}`,
    ),
  ],
  Checkpoint: ANY_JSON,
  'Custom Event': ANY_JSON,
  'Complete Job': [
    fault('{"result":{"a":1e400}}', `result ${BEYOND}`),
    fault('{"result":1e400}', `result ${BEYOND}`),
    fault(`{"result":${levels(65)}}`, `result ${DEEP}`),
  ],
  'Fail Job': [
    fault({}, `error ${REQUIRED}`),
    ...values('error', 'must be a string or an object', [null, 5, true, [], ['no']]),
    fault('{"error":{"a":1e400}}', `error ${BEYOND}`),
    fault(`{"error":{"a":${levels(64)}}}`, `error ${DEEP}`),
    ...values('retryable', 'must be a boolean', [0, 'false', []], { error: 'no' }),
    ...values('retryAfterSeconds', RETRY_DELAY, [-1, 604_801, '5', []], { error: 'no' }),
  ],
  'Reschedule Job': [
    fault({}, 'scheduledFor or delaySeconds is required'),
    fault({ scheduledFor: null, delaySeconds: null, priority: 5 }, 'scheduledFor or delaySeconds is required'),
    fault({ delaySeconds: 5, scheduledFor: '2030-01-01T00:00:00Z' }, NOT_BOTH),
    ...values('scheduledFor', EXPIRES, NOT_TIMES),
    ...values('delaySeconds', DELAY, [-1, 31_622_401, '5', []]),
    ...values('priority', PRIORITY, [-604_801, 604_801, 0.5, '5', [], ...HUGE], { delaySeconds: 0 }),
  ],
  'Release Job': [
    ...values('reason', STRING, [5, true, [], {}, ['stop']]),
    ...values('delaySeconds', DELAY, [-1, 31_622_401, '5', []]),
  ],
  'Requeue Job': values('delaySeconds', DELAY, [-1, 31_622_401, '5', []]),
  'Start Operation': [
    fault({ filter: { status: 'dead' } }, 'action must be one of requeue, kill, delete, reschedule'),
    fault({ ...requeue, action: 'retry' }, 'action must be one of requeue, kill, delete, reschedule'),
    ...values('filter', OBJECT, [5, null, [], 'dead'], requeue),
    inFilter({ status: undefined }, 'status is required'),
    inFilter({ status: 'deed' }, `status must be one of ${STATUSES.join(', ')}`),
    inFilter({ status: ['dead', 'completed'] }, 'status must be one of dead, killed with action requeue'),
    inFilter({ names: 'x' }, 'names must be an array of strings'),
    inFilter({ names: [] }, 'names must not be empty'),
    inFilter({ tags: ['a\nb'] }, 'tags[0] must not contain control characters'),
    inFilter({ tags: Array(11).fill('a') }, 'tags must have at most 10 tags'),
    inFilter({ createdAfter: '2030-01-01' }, `createdAfter ${EXPIRES}`),
    inFilter({ createdBefore: 5 }, `createdBefore ${EXPIRES}`),
    inFilter({ q: '' }, 'q must be 1 to 500 characters'),
    inFilter({ ids: 'x' }, 'ids must be an array of strings'),
    inFilter({ ids: [] }, 'ids must not be empty'),
    inFilter({ ids: Array(1_001).fill('x') }, 'ids must have at most 1000 ids'),
    inFilter({ ids: [5] }, 'ids[0] must be a string'),
    ...[
      '',
      'none',
      'x'.repeat(5_000),
      UNKNOWN.jobId.toUpperCase(),
      `${UNKNOWN.jobId}\n`,
      `4${UNKNOWN.jobId.slice(1)}`,
    ].map((id) => inFilter({ ids: [...Array(3).fill(UNKNOWN.jobId), id] }, 'ids[3] must be a job ID')),
    inFilter({ schedule: 'a b' }, `schedule ${SPACE_ID}`),
    ...values('limit', 'must be an integer between 1 and 9007199254740991', [0, 1.5, '5', true, ...HUGE], requeue),
    ...values('dryRun', 'must be a boolean', [0, 'true'], requeue),
    ...values('reason', 'must be 1 to 1000 characters', ['', 'x'.repeat(1_001)], requeue),
    ...values('delaySeconds', DELAY, [-1, 31_622_401, '5', []], requeue),
    fault(
      { ...requeue, action: 'reschedule', filter: { status: 'pending' } },
      'delaySeconds is required with action reschedule',
    ),
    fault(
      { ...requeue, action: 'delete', delaySeconds: 0 },
      'delaySeconds is allowed only with action requeue or reschedule',
    ),
  ],
  'Copy Job': values('payload', OBJECT, ['x', 5, []]),
  'Kill Job': values('reason', STRING, [5, true, [], {}, ['stop']]),
  'Change Space Settings': [
    ...values('retention', OBJECT, [5, 'x', []]),
    ...values('maxPending', 'must be an integer between 0 and 1000000000', [-1, 0.5, '5', 1_000_000_001, {}, ...HUGE]),
    ...values('maxBytes', 'must be an integer between 0 and 1000000000000000', [-1, 0.5, '5', 1e15 + 1, {}, ...HUGE]),
    ...values('defaults', OBJECT, [5, 'x', []]),
    ...values('anonymousStreams', 'must be a boolean', [0, 'false', []]),
    ...values('requireDeliveryToken', 'must be a boolean', [1, 'true', {}]),
  ],
  'Pause Space': values('names', FILTER_LIST, ['resize', 5, {}]),
  'Resume Space': values('names', FILTER_LIST, ['resize', 5, {}]),
  'Create Key': [
    fault({ scopes: ['jobs:read'] }, `name ${REQUIRED}`),
    ...values('name', REQUIRED, ['', null], { scopes: ['jobs:read'] }),
    ...values('name', STRING, [5, [], {}], { scopes: ['jobs:read'] }),
    ...values('name', NAME, ['x'.repeat(129)], { scopes: ['jobs:read'] }),
    fault(work, `scopes ${REQUIRED}`),
    ...values('scopes', 'must not be empty', [[]], work),
    ...values('scopes', 'must have at most 50 scopes', [Array(51).fill('jobs:read')], work),
    ...values('scopes', 'must be an array of scopes', ['jobs:read', null, 5, { 0: 'jobs:read' }], work),
    ...['nope', 'jobs', 'jobs:*', '*', 'JOBS:READ', 'jobs:read ', '', '__proto__', 5, null, ['jobs:read']].map(
      (scope) => fault({ ...work, scopes: ['jobs:read', scope] }, `scopes[1] ${SCOPE}`),
    ),
    ...values('spaceId', SPACE_ID, ['', 'a b', 'a/b', 'ü', 'x'.repeat(129), 'a\n', '*'], reader),
    ...values('spaceId', STRING, [5, [], {}, true], reader),
    ...values('expiresAt', EXPIRES, ['', 'tomorrow', '2030-01-01', '1900000000', '2030-01-01T00:00:00'], reader),
    ...values('expiresAt', EXPIRES, ['2030-02-30T00:00:00Z', '2030-01-01T24:00:01Z', '2030-13-01T00:00:00Z'], reader),
    ...values('expiresAt', EXPIRES, ['2030-01-01 00:00:00Z', '2030-01-01T00:00:61Z'], reader),
    ...values('expiresAt', EXPIRES, [1_900_000_000, true, [], {}], reader),
    ...values('expiresAt', 'must be in the future', ['2020-01-01T00:00:00Z'], reader),
    ...values('limits', OBJECT, [5, 'x', []], reader),
    ...[0, 0.001, 100_001, '5', null].map((perSecond) =>
      fault(
        { ...reader, limits: { perSecond, burst: 1 } },
        'limits.perSecond must be a number between 0.01 and 100000',
      ),
    ),
    ...[0, 1.5, 100_001, '5', null].map((burst) =>
      fault({ ...reader, limits: { perSecond: 1, burst } }, 'limits.burst must be an integer between 1 and 100000'),
    ),
    fault(
      { ...reader, limits: { perSecond: 1, burst: 1, bursts: 2 } },
      'unknown field limits.bursts, did you mean burst?',
    ),
    fault({ ...reader, space: 'a' }, 'unknown field space, did you mean spaceId?'),
    fault({ ...reader, 'a b': 1 }, 'unknown field a b'),
    fault(
      { ...reader, space: 'a', expireAt: 1, x: 2 },
      'unknown field space, did you mean spaceId?',
      'unknown field expireAt, did you mean expiresAt?',
      'unknown field x',
    ),
    fault('{"name":"k","scopes":["jobs:read"],"__proto__":1}', 'unknown field __proto__'),
    fault(
      { name: '', scopes: ['nope'], spaceId: 'a b', expiresAt: 'tomorrow' },
      `name ${REQUIRED}`,
      `scopes[0] ${SCOPE}`,
      `spaceId ${SPACE_ID}`,
      `expiresAt ${EXPIRES}`,
    ),
  ],
  'Create Stream Token': [
    fault({ tag: 'a' }, 'scope must be one of jobs:read, jobs:read:progress'),
    ...values('scope', 'must be one of jobs:read, jobs:read:progress', ['jobs:ack', '', null, []], { tag: 'a' }),
    fault({ scope: 'jobs:read' }, 'jobIds or tag or spaceId is required'),
    fault({ scope: 'jobs:read', tag: 'a', spaceId: 'a' }, 'spaceId cannot be combined with tag'),
    ...values('jobIds', 'must not be empty', [[]], { scope: 'jobs:read' }),
    ...values('jobIds', 'must have at most 100 jobIds', [Array(101).fill(NO_JOB)], { scope: 'jobs:read' }),
    fault({ scope: 'jobs:read', jobIds: [NO_JOB, 'x'] }, 'jobIds[1] must be a job ID'),
    ...values('spaceId', SPACE_ID, ['', 'a b'], { scope: 'jobs:read' }),
    ...values('tag', 'must not contain control characters', ['a\nb'], { scope: 'jobs:read' }),
    ...values('expiresInSeconds', 'must be an integer between 60 and 86400', [59, 86_401, 1.5, '60'], TOKEN),
    fault({ ...TOKEN, spaceid: 'a' }, 'unknown field spaceid, did you mean spaceId?'),
  ],
  'Rotate Key': [
    ...values('overlapSeconds', 'must be a number between 0 and 2592000', [-1, 2_592_001, '5', []]),
    fault({ overlapSecond: 0 }, 'unknown field overlapSecond, did you mean overlapSeconds?'),
  ],
};

const BOOLEAN = 'must be a boolean';
const INTERVAL = 'must be a number between 10 and 31622400';
const SECONDS = 'must be a number between 0 and 31622400';
const CRON_FIELDS = 'must have five fields: minute, hour, day of month, month, day of week';
const every = { everySeconds: 60, job: work };

const CRON_FAULTS: Fault[] = [
  ...[
    ['* * * *', CRON_FIELDS],
    ['* * * * * *', CRON_FIELDS],
    ['0 0 1 1 * 2030', CRON_FIELDS],
    ['60 * * * *', 'has an invalid minute: 60'],
    ['-1 * * * *', 'has an invalid minute: -1'],
    ['*/0 * * * *', 'has an invalid minute: */0'],
    ['*/61 * * * *', 'has an invalid minute: */61'],
    ['5/15 * * * *', 'has an invalid minute: 5/15'],
    ['1,,2 * * * *', 'has an invalid minute: 1,,2'],
    ['* 24 * * *', 'has an invalid hour: 24'],
    ['* 22-2 * * *', 'has an invalid hour: 22-2'],
    ['0 0 0 * *', 'has an invalid day of month: 0'],
    ['0 0 32 * *', 'has an invalid day of month: 32'],
    ['0 0 L * *', 'has an invalid day of month: L'],
    ['0 0 15W * *', 'has an invalid day of month: 15W'],
    ['0 0 LW * *', 'has an invalid day of month: LW'],
    ['0 0 ? * *', 'has an invalid day of month: ?'],
    ['0 0 * 13 *', 'has an invalid month: 13'],
    ['0 0 * juni *', 'has an invalid month: juni'],
    ['0 0 * * 8', 'has an invalid day of week: 8'],
    ['0 0 * * 1#2', 'has an invalid day of week: 1#2'],
    ['0 0 * * 5L', 'has an invalid day of week: 5L'],
    ['0 0 * * fri-mon', 'has an invalid day of week: fri-mon'],
    ['@reboot', 'must be one of @hourly, @daily, @weekly, @monthly, @yearly'],
    ['@every 1h', 'must be one of @hourly, @daily, @weekly, @monthly, @yearly'],
    ['0 0 30 2 *', 'must have a time within five years'],
    ['0 0 31 4,6,9,11 *', 'must have a time within five years'],
    ['x'.repeat(257), 'must be 1 to 256 characters'],
  ].map(([cron, rule]) => fault({ cron, job: work }, `cron ${rule}`)),
  ...values('cron', STRING, [5, [], {}], { job: work }),
];

/** Faults of a schedule, in addition to those of its job. */
const SCHEDULE_FAULTS: Fault[] = [
  ...CRON_FAULTS,
  fault({ job: work }, 'cron or everySeconds is required'),
  fault({ ...every, cron: '* * * * *' }, 'everySeconds cannot be combined with cron'),
  ...values('everySeconds', INTERVAL, [9.9, 31_622_401, '60', [], ...HUGE], { job: work }),
  ...values('timezone', 'must be an IANA time zone', ['', 'Mars/Phobos', '+01:00', 'UTC+1', 'a b'], every),
  ...values('timezone', STRING, [5, []], every),
  fault({ everySeconds: 60 }, 'job must be an object'),
  ...values('overlap', 'must be one of skip, allow, replace', ['queue', 5], every),
  ...values('missed', 'must be one of once, skip', ['all', true], every),
  ...values('missedWithinSeconds', SECONDS, [-1, 31_622_401, '5'], every),
  ...values('spreadSeconds', SECONDS, [-1, 31_622_401, '5'], every),
  ...values('startsAt', EXPIRES, NOT_TIMES, every),
  ...values('endsAt', EXPIRES, NOT_TIMES, every),
  fault(
    { ...every, startsAt: '2030-01-02T00:00:00Z', endsAt: '2030-01-01T00:00:00Z' },
    'endsAt must not be before startsAt',
  ),
  ...values('paused', BOOLEAN, [0, 'true'], every),
  ...values('owner', NAME, ['', 'x'.repeat(129)], every),
  fault({ ...every, overlaps: 'skip' }, 'unknown field overlaps, did you mean overlap?'),
  fault({ ...every, job: { ...work, maxRetry: 1 } }, 'unknown field job.maxRetry, did you mean maxRetries?'),
  fault({ ...every, job: { ...work, delaySeconds: 1 } }, 'unknown field job.delaySeconds'),
  fault({ ...every, job: { ...work, scheduledFor: '2030-01-01T00:00:00Z' } }, 'unknown field job.scheduledFor'),
];

/** Put the body of each fault into a larger one, in which its fields have longer paths. */
const nested = (rows: Fault[], before: string, after: string, path: string): Fault[] =>
  rows.map(({ text, errors }) => ({
    text: before + text + after,
    errors: errors.map((error) =>
      error
        .replace(
          /^unknown field (.*?)(?=,|$)(.*mean )?/,
          (_, field, mean = '') => `unknown field ${path}${field}${mean}`,
        )
        .replace(/^(?!unknown)/, path),
    ),
  }));

const JOB_FAULTS = nested(
  (REFUSED['Create Job'] as Fault[]).filter(
    ({ text }) => !/scheduledFor|__proto__":{"name|delaySeconds":(?!.*jitter)/.test(text),
  ),
  '{"everySeconds":60,"job":',
  '}',
  'job.',
);
REFUSED['Put Schedule'] = [...SCHEDULE_FAULTS, ...JOB_FAULTS];
const declared = { owner: MADE, schedules: [{ id: 'a', ...every }] };
REFUSED['Put Schedules'] = [
  fault({ schedules: [] }, `owner ${REQUIRED}`),
  ...values('owner', NAME, ['', 'x'.repeat(129)], { schedules: [] }),
  ...values('schedules', 'must be an array of schedules', ['x', {}], { owner: MADE }),
  ...values('schedules', 'must have at most 200 schedules', [Array(201).fill({ id: 'a', ...every })], { owner: MADE }),
  ...values('prune', BOOLEAN, [0, 'true'], declared),
  fault({ ...declared, schedules: [{ ...every }] }, `schedules[0].id ${REQUIRED}`),
  fault({ ...declared, schedules: [{ id: 'a b', ...every }] }, `schedules[0].id ${SPACE_ID}`),
  fault(
    { ...declared, schedules: [...declared.schedules, ...declared.schedules] },
    'schedules[1].id must not be a duplicate',
  ),
  fault(
    { ...declared, schedules: [{ id: 'a', ...every, owner: 'another' }] },
    'schedules[0].owner must be the owner of the call',
  ),
];
REFUSED['Pause Schedule'] = [fault({}, `paused ${REQUIRED}`), ...values('paused', BOOLEAN, [null, 0, 'true'])];
REFUSED['Run Schedule'] = values('payload', OBJECT, ['x', 5, []]);

const NO_OBJECTS = ['null', '[]', '5', '"text"', 'true', '[{"name":"work"}]'].map((text) =>
  fault(text, 'body must be an object'),
);

describe.each(Object.entries(REFUSED))('%s', (name, rows) => {
  // Create Job takes a list of jobs, see test/batch.
  const noObjects = NO_OBJECTS.filter(({ text }) => name !== 'Create Job' || !text.startsWith('['));
  const all = rows === ANY_JSON ? rows : [...noObjects, ...rows];
  const faults = all.map((row) => ({ ...row, title: `${short(row.text)}: ${row.errors[0]}` }));

  it.each(faults)(`${name} refuses $title`, async ({ text, errors }) => {
    expect(summary(await callEndpoint(service, endpointOf(name), target, { raw: text }))).toEqual(refusal(...errors));
    if (!IN_SENTENCES.test(`${text} ${errors[0]}`)) expect(documentTakes(name, JSON.parse(text))).toBe(false);
  });
});

/** Return bodies with each of several values of one field at the edge of its limits, in addition to other fields. */
const edges = (field: string, allowed: unknown[], rest: object) =>
  allowed.map((value) => ({ ...rest, [field]: value }));
const HEADERS = {
  webhook: 'v',
  webhook_id: 'v',
  'x-webhook-id': 'v',
  'Content-Type': 'text/plain',
  'user-agent': 'me',
  Authorization: 'Bearer ü\t!',
};
const URLS = ['http://localhost:1/a?b#c', 'HTTPS://example.com:8443/a?b#c', `https://[::1]/${'a'.repeat(2_034)}`];
const STAGES = { '': { percent: 0 }, b: { percent: 100, message: '' } };

const TAKEN: Record<string, object[]> = {
  'Create Job': [
    ...edges('name', ['x', 'x'.repeat(128), '🚂'.repeat(128), '\0\u2028 '], {}),
    ...edges('payload', [null, {}], work),
    ...edges('maxRetries', [0, 100], work),
    ...edges('timeoutSeconds', [0.001, 86_400], work),
    ...edges('callbackUrl', [null, ...URLS], work),
    ...edges('callbackHeaders', [null, {}, HEADERS, { x: 'v'.repeat(4_095) }, numbered(20, '')], work),
    ...edges(
      'unique',
      [1, 31_622_400].map((ttlSeconds) => ({ key: `for ${ttlSeconds} s`, until: 'expired', ttlSeconds })),
      work,
    ),
    ...edges('maxRunSeconds', [0.001, 604_800], work),
    ...edges('startWithinSeconds', [0.001, 31_622_400], work),
    ...edges('priority', [-604_800, 604_800], work),
    ...edges('tags', [['🚂'.repeat(64)], [' ', '/']], work),
    ...edges('callbackOn', [['killed'], ['completed', 'dead', 'killed']], work),
    ...edges('scheduledFor', ['2200-01-01T00:00:00.000Z'], work),
    ...edges('retry', [{ delaySeconds: 0 }, { delaySeconds: Array(20).fill(604_800) }], work),
    ...edges('retry', [{ delaySeconds: 0.5, factor: 10, maxDelaySeconds: 0, jitter: 0 }], work),
    ...edges('unique', [{ key: '🚂'.repeat(256) }, { key: '\0', until: 'started', onConflict: 'reject' }], work),
  ],
  'Poll for Jobs': [
    ...[{}, { count: 1e20 }, { types: [] }, { type: 'x' }, { type: names(100) }, { names: ['x'], name: 'y' }],
    ...[{ waitSeconds: 0 }, { waitSeconds: 0.01 }],
  ],
  'Report Progress': [
    ...[
      { percent: 0, message: ' ' },
      { percent: 100, message: 'done' },
      { percent: 1e-7, message: 'hardly' },
    ],
    ...edges('subProgress', [{}, STAGES, numbered(50, { percent: 1 })], half),
  ],
  'Complete Job': [{}, { result: null }, { result: [1] }],
  'Fail Job': [
    { error: '' },
    { error: {} },
    { error: '', retryable: true, retryAfterSeconds: null },
    { error: '', retryable: false, retryAfterSeconds: 604_800 },
  ],
  'Release Job': [{}, { reason: null }, { reason: '' }, { delaySeconds: null }, { delaySeconds: 31_622_400 }],
  'Reschedule Job': [
    { delaySeconds: 0, scheduledFor: null },
    { delaySeconds: 31_622_400, priority: null },
    { scheduledFor: '1970-01-01T00:00:00Z', priority: -604_800 },
  ],
  'Requeue Job': [{}, { delaySeconds: null }, { delaySeconds: 31_622_400 }],
  'Start Operation': [
    { ...requeue, limit: null, reason: null, delaySeconds: null },
    { ...requeue, limit: 1, dryRun: true, delaySeconds: 31_622_400 },
    { ...requeue, filter: { status: 'dead', ids: Array(1_000).fill(UNKNOWN.jobId) } },
  ],
  'Copy Job': [{}, { payload: null }, { payload: { a: [] } }],
  'Kill Job': [{}, { reason: null }, { reason: '' }],
  'Change Space Settings': [
    {},
    {
      retention: null,
      maxPending: null,
      maxBytes: null,
      defaults: null,
      anonymousStreams: null,
      requireDeliveryToken: null,
    },
    { retention: { completedSeconds: 0, deadSeconds: 3_162_240_000, killedSeconds: null } },
    { defaults: { maxRetries: 0, timeoutSeconds: 86_400, retry: { delaySeconds: [1] }, maxRunSeconds: 604_800 } },
    { defaults: { maxRetries: null, timeoutSeconds: null, retry: null, maxRunSeconds: null } },
    { anonymousStreams: true, requireDeliveryToken: false, maxPending: 1_000_000_000, maxBytes: 1e15 },
  ],
  'Put Schedule': [
    every,
    { everySeconds: null, cron: '@daily', timezone: 'America/Argentina/Buenos_Aires', job: work },
    ...['0-59/2,7 0 1,15 JAN-mar *', '  0  0 29 2 *  ', '0 0 * * 5-7', '@yearly', '*/59 */23 */31 */12 */7'].map(
      (cron) => ({ cron, job: work }),
    ),
    { ...every, overlap: 'replace', missed: 'skip', missedWithinSeconds: 0, spreadSeconds: 31_622_400, paused: true },
    { ...every, startsAt: '2030-01-01T00:00:00Z', endsAt: '2030-01-01T00:00:00Z', owner: '🚂'.repeat(128) },
    ...edges('everySeconds', [10, 31_622_400], { job: work }),
    { everySeconds: 60, job: { ...work, unique: { key: 'k' }, retry: { delaySeconds: [1, 2] }, tags: ['a'] } },
  ],
  'Put Schedules': [
    { owner: MADE, schedules: [] },
    { ...declared, prune: null },
  ],
  'Pause Schedule': [{ paused: true }, { paused: false }],
  'Run Schedule': [{}, { payload: null }],
  'Pause Space': [{ names: ['none'] }, { names: Array(100).fill('none') }],
  'Resume Space': [{}, { names: null }, { names: ['none'] }],
  'Create Key': [
    ...edges('scopes', [['jobs:read'], Array(50).fill('jobs:read')], { name: 'k' }),
    { name: 'k', scopes: ['keys:manage'], spaceId: null },
    { name: 'k', scopes: ['keys:manage'], spaceId: 'a' },
    { name: 'k', scopes: ['jobs:read'], limits: { perSecond: 0.01, burst: 100_000 } },
    { name: 'k', scopes: ['jobs:read'], spaceId: 'a.b:c_d-E', expiresAt: null },
  ],
  'Create Stream Token': [
    ...edges('expiresInSeconds', [60, 86_400], TOKEN),
    { scope: 'jobs:read:progress', jobIds: Array(100).fill(NO_JOB), tag: null, spaceId: null },
    { scope: 'jobs:read', spaceId: 'a.b:c_d-E' },
  ],
  'Rotate Key': [{}, { overlapSeconds: null }, { overlapSeconds: 0 }, { overlapSeconds: 2_592_000 }],
};

/** Endpoints of jobs that no worker has. */
const NOT_RUNNING = ['Kill Job', 'Reschedule Job'];

describe.each(Object.keys(TAKEN))('%s', (name) => {
  const endpoint = endpointOf(name);

  it.each((TAKEN[name] as object[]).map((body) => ({ body, title: short(JSON.stringify(body)) })))(
    `${name} accepts $title`,
    async ({ body }) => {
      const to = await targetFor(
        service,
        { ...endpoint, on: endpoint.on === 'dead' ? 'dead' : NOT_RUNNING.includes(name) ? 'pending' : 'running' },
        'edge',
      );
      const response = await callEndpoint(service, endpoint, to, { body });
      expect(response.status).toBe(endpoint.success ?? 200);
      if (name === 'Create Job') {
        expect(response.body).toMatchObject(body);
        expect((await service.call('GET', `/jobs/${response.body.id}`)).body).toMatchObject(body);
      }
      if (name === 'Report Progress')
        expect((await service.call('GET', `/jobs/${to.jobId}/progress`)).body.progress).toEqual(body);
      if (name === 'Create Key') {
        const { id, key: _, ...shown } = response.body;
        const scopes = [...new Set((body as { scopes: string[] }).scopes)];
        expect(shown).toMatchObject({ ...body, scopes, expiresAt: shown.expiresAt });
        const listed = (await service.call('GET', '/keys')).body.find((one: { id: string }) => one.id === id);
        expect(listed).toMatchObject(shown);
        await service.call('DELETE', `/keys/${id}`);
      }
      expect(documentTakes(name, body)).toBe(true);
    },
  );
});

/** Bodies in which every optional field is null, by endpoint and by object in the body. */
const NULLS: [name: string, place: string, rest: object][] = [
  ['Create Job', '', work],
  ['Create Job', 'retry', { delaySeconds: 1 }],
  ['Create Job', 'unique', { key: 'null' }],
  ['Poll for Jobs', '', {}],
  ['Report Progress', '', half],
  ['Report Progress', 'subProgress.a', { percent: 1 }],
  ['Append Logs', 'logs.0', { message: 'x' }],
  ['Complete Job', '', {}],
  ['Fail Job', '', { error: 'no' }],
  ['Release Job', '', {}],
  ['Requeue Job', '', {}],
  ['Start Operation', '', requeue],
  ['Copy Job', '', {}],
  ['Kill Job', '', {}],
  ['Change Space Settings', '', {}],
  ['Change Space Settings', 'retention', {}],
  ['Change Space Settings', 'defaults', {}],
  ['Put Schedule', '', every],
  ['Put Schedule', 'job', work],
  ['Put Schedules', '', declared],
  ['Run Schedule', '', {}],
  ['Pause Space', '', {}],
  ['Resume Space', '', {}],
  ['Create Key', '', { name: 'k', scopes: ['jobs:read'] }],
  ['Rotate Key', '', {}],
  ['Create Stream Token', '', { scope: 'jobs:read', tag: 'a' }],
];
const HOLDERS: Record<string, object> = {
  ...{ 'Create Job': work, 'Report Progress': half, 'Append Logs': { logs: [{}] } },
  'Put Schedule': { everySeconds: 60 },
};

it.each(NULLS)('%s treats null as absent in each optional field of "%s"', async (name, place, rest) => {
  const path = place === '' ? [] : place.split('.');
  const properties = contract.propertiesOf(endpointOf(name), path);
  expect(properties.length).toBeGreaterThan(0);
  const filled = { ...Object.fromEntries(properties.map((property) => [property, null])), ...rest };
  const body = structuredClone(place === '' ? filled : (HOLDERS[name] ?? {})) as Record<string, never>;
  let holder = body;
  for (const [i, key] of path.entries())
    holder = holder[key] = i === path.length - 1 ? (filled as never) : ((holder[key] ?? {}) as never);
  const endpoint = endpointOf(name);
  const on = endpoint.on === 'dead' ? 'dead' : NOT_RUNNING.includes(name) ? 'pending' : 'running';
  const to = await targetFor(service, { ...endpoint, on }, 'null');
  expect((await callEndpoint(service, endpoint, to, { body })).status).toBe(endpoint.success ?? 200);
  expect(documentTakes(name, body)).toBe(true);
});

/** Bodies, and whether each of their objects, in the order in which they begin, may have an unknown field. */
it.each<[name: string, body: object, isOpen: boolean[]]>([
  ['Create Job', { ...work, payload: { a: {} }, callbackHeaders: {} }, [true, true, true, false]],
  ['Create Job', { ...work, retry: { delaySeconds: 1 } }, [true, true]],
  ['Poll for Jobs', {}, [true]],
  ['Report Progress', { ...half, subProgress: { a: { percent: 1 } } }, [true, false, true]],
  ['Append Logs', { logs: [{ message: 'x', metadata: {} }] }, [true, true, true]],
  ['Append Logs', [{ message: 'x' }], [true]],
  ['Complete Job', { result: {} }, [true, true]],
  ['Fail Job', { error: {} }, [true, true]],
  ['Release Job', {}, [true]],
  ['Reschedule Job', { delaySeconds: 0 }, [true]],
  ['Requeue Job', {}, [true]],
  ['Start Operation', requeue, [false, false]],
  ['Copy Job', { payload: {} }, [true, true]],
  ['Kill Job', {}, [true]],
  ['Change Space Settings', { retention: {}, defaults: {} }, [false, false, false]],
  [
    'Put Schedule',
    { ...every, job: { ...work, payload: {}, unique: { key: 'k' }, retry: { delaySeconds: 1 } } },
    [false, false, true, false, false],
  ],
  ['Put Schedules', declared, [false, false, false]],
  ['Pause Schedule', { paused: true }, [false]],
  ['Run Schedule', { payload: {} }, [false, true]],
  ['Pause Space', { names: ['none'] }, [false]],
  ['Resume Space', { names: ['none'] }, [false]],
  ['Create Key', { name: 'k', scopes: ['jobs:read'] }, [false]],
])('%s accepts unknown fields exactly where the OpenAPI document allows them: %j', async (name, body, isOpen) => {
  const endpoint = endpointOf(name);
  for (const [place, isTaken] of isOpen.entries()) {
    let at = 0;
    const add = (_: string, value: unknown) =>
      typeof value === 'object' && !Array.isArray(value) && at++ === place ? { ...value, unknown: [1] } : value;
    const raw = JSON.stringify(body, add);
    const to = await targetFor(service, endpoint, 'unknown');
    const response = await callEndpoint(service, endpoint, to, { raw });
    const isDocumented = documentTakes(name, JSON.parse(raw));
    expect({ raw, isTaken: response.status < 300, isDocumented }).toEqual({ raw, isTaken, isDocumented: isTaken });
  }
});

it.each([
  ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
  ['2030-01-01T02:00:00.123456+02:00', '2030-01-01T00:00:00.123Z'],
  ['2028-02-29T12:00:00-00:30', '2028-02-29T12:30:00.000Z'],
])('accepts %s as the expiry of a key and shows it in UTC', async (expiresAt, shown) => {
  const key = { name: 'k', scopes: ['jobs:read'], expiresAt };
  const { status, body } = await service.call('POST', '/keys', { body: key });
  expect({ status, expiresAt: body.expiresAt }).toEqual({ status: 201, expiresAt: shown });
  expect(documentTakes('Create Key', key)).toBe(true);
  await service.call('DELETE', `/keys/${body.id}`);
});

it('lists at most 20 invalid fields in an error, and shortens a long field name', async () => {
  const { status, body } = await service.call('POST', '/keys', { body: { ...work, scopes: Array(50).fill(1) } });
  expect({ status, details: body.details.length }).toEqual({ status: 400, details: 20 });
  const long = await service.call('POST', '/spaces/target/jobs', { body: header('x'.repeat(100_000), 5) });
  expect({ status: long.status, isShort: long.text.length < 1_000 }).toEqual({ status: 400, isShort: true });
});

it('quotes the first 100 characters of an unknown field in the error and in its path', async () => {
  const field = 'x'.repeat(100_000);
  const [path, error] = ['x'.repeat(100), `unknown field ${'x'.repeat(100)}`];
  const code = 'INVALID_REQUEST';
  const only = await service.call('POST', '/keys', { body: { ...reader, [field]: 1 } });
  expect(only).toMatchObject({ status: 400, body: { error, code } });
  const second = await service.call('POST', '/keys', { body: { name: MADE, [field]: 1 } });
  const details = [
    { path: 'scopes', message: `scopes ${REQUIRED}` },
    { path, message: error },
  ];
  expect(summary(second)).toEqual({ status: 400, body: { error: `scopes ${REQUIRED}`, code, details } });
});

describe('identifiers in the path', () => {
  /** A byte that nginx itself refuses in a path. */
  const NUL = sharedService().isBehindProxy ? [] : ['%00'];

  it.each(['a%20b', 'a%2Fb', ...NUL, '%C3%A9', 'a+b', 'a;b', '*', 'x'.repeat(129), 'a%0A'])(
    'refuses an invalid space in the path: %s',
    async (spaceId) => {
      for (const endpoint of ENDPOINTS.filter(({ path }) => path.includes(':spaceId'))) {
        const response = await callEndpoint(service, endpoint, { ...target, spaceId });
        expect(summary(response)).toEqual(refusal(`spaceId ${SPACE_ID}`));
      }
    },
  );

  it.each(['A.b_c:d-9', '...', 'x'.repeat(128), '%41'])('accepts a valid space in the path: %s', async (spaceId) => {
    const { status, body } = await service.call('POST', `/spaces/${spaceId}/jobs`, { body: work });
    expect({ status, spaceId: body.spaceId }).toEqual({ status: 201, spaceId: decodeURIComponent(spaceId) });
  });

  it.each([
    ...['0', '...', '%0A', '*', 'x'.repeat(2_000), '%7Bkeys%7D:records', '__proto__', '%F0%9F%9A%82', ...NUL],
    ...['CAPITALS', 'ID%20', 'ID%0A', 'ID.1', 'ID:events'],
  ])('finds no job with the id %s', async (text) => {
    const jobId = text.replace('CAPITALS', target.jobId.toUpperCase()).replace('ID', target.jobId);
    for (const name of ['Get Job', 'Get Job Progress', 'Kill Job']) {
      const response = await callEndpoint(service, endpointOf(name), { ...target, jobId });
      expect(summary(response)).toEqual({ status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } });
    }
  });

  it.each(['0', '...', ...NUL, 'admin', 'x'.repeat(200), '__proto__'])('finds no key with the id %s', async (keyId) => {
    const response = await service.call('DELETE', `/keys/${keyId}`);
    expect(summary(response)).toEqual({ status: 404, body: { error: 'Key not found', code: 'KEY_NOT_FOUND' } });
  });
});

/** Return the parameters of a query. Those of the path are references. */
const parametersOf = ({ parameters }: Part): string[] =>
  parameters.flatMap(({ name, in: place }: Part) => (place === 'query' ? name : []));

/** Return patterns of the fields that an operation of the document has in its query and its body. */
const fieldsOf = (operation: Part): string[] => [
  ...parametersOf(operation),
  ...fieldsIn(operation.requestBody?.content['application/json'].schema),
];

function fieldsIn(schema: Part = {}, at = ''): string[] {
  const { properties = {}, additionalProperties } = schema.$ref ? contract.resolved(schema.$ref.slice(1)).part : schema;
  const own = Object.entries(properties).flatMap(([name, part]) => [at + name, ...fieldsIn(part, `${at}${name}\\.`)]);
  return typeof additionalProperties === 'object' ? [...own, ...fieldsIn(additionalProperties, `${at}\\w+\\.`)] : own;
}

describe('queries', () => {
  const LIMIT = 'limit must be an integer of at least 1';
  const OFFSET = 'offset must be an integer of at least 0';
  const STATUS = 'status must be one of scheduled, pending, delivered, running, completed, dead, killed';
  const CURSOR = 'cursor must be a cursor from an earlier response';
  const TIME = 'must be an ISO 8601 timestamp with a time zone';
  const NUMBERS = ['1.5', 'abc', '', '1e2', '0x1', '%2B1', '%201', '1%00', '%EF%BC%91', 'null', '-1'];
  const each = (path: string, wrong: string[], error: string) => wrong.map((value) => [`${path}${value}`, error]);
  const titled = (rows: string[][]) => rows.map(([query = '', ...errors]) => ({ query, errors, title: short(query) }));

  const wrong = [
    ...each('jobs?limit=', ['0', ...NUMBERS], LIMIT),
    ...each('jobs?offset=', NUMBERS, OFFSET),
    ...each('jobs?status=', ['', 'unknown', 'PENDING', 'pending,dead', '%20pending', '__proto__'], STATUS),
    ['jobs?status=dead&status=open', `status[1] ${STATUS.slice('status '.length)}`],
    ['jobs?name=', 'name must be 1 to 128 characters'],
    ['jobs?tag=', 'tag must be 1 to 64 characters'],
    ['jobs?schedule=a%20b', `schedule ${SPACE_ID}`],
    ['jobs?q=', 'q must be 1 to 500 characters'],
    ['jobs?order=ASC', 'order must be one of asc, desc'],
    ...each('jobs?cursor=', ['-1', '0x1', '1e2', '9'.repeat(16), '9'.repeat(17)], CURSOR),
    ...each('jobs?createdAfter=', ['', 'now', '2026-01-31', '1785576604784'], `createdAfter ${TIME}`),
    ...each('jobs?createdBefore=', ['', '2026-02-30T00:00:00Z'], `createdBefore ${TIME}`),
    ['jobs?status=x&limit=x&offset=x', STATUS, LIMIT, OFFSET],
    ...each('schedules?limit=', ['0', 'x'], LIMIT),
    ...each('schedules?cursor=', ['', 'a', '-1'], CURSOR),
    ...each('stats?limit=', ['0', 'x'], LIMIT),
    ['stats?name=', 'name must be 1 to 128 characters'],
    [`stats?name=a&name=${'x'.repeat(129)}`, 'name[1] must be 1 to 128 characters'],
    [`stats?${'name=x&'.repeat(101)}`, 'name must have at most 100 names'],
    ...each('spaces?limit=', ['0', 'x'], LIMIT),
    ...each('spaces?cursor=', ['', 'a/b'], `cursor ${SPACE_ID}`),
    ...each('stats/history?from=', ['', 'now'], `from ${TIME}`),
    ...each('stats/history?to=', ['', '2026-02-30T00:00:00Z'], `to ${TIME}`),
    ...each('stats/history?step=', ['', '1', '061'], 'step must be 60 or 3600'),
    ...each('job?events=', ['', '2', 'true'], 'events must be 0 or 1'),
    ...each('job?eventsAfter=', ['-1', 'x'], 'eventsAfter must be an integer of at least 0'),
    ...each('job?eventsLimit=', ['0', 'x'], 'eventsLimit must be an integer of at least 1'),
    ...each(
      'job?events=0&',
      ['eventsAfter=0', 'eventsAfter=0&eventsLimit=1'],
      'eventsAfter must be absent with events=0',
    ),
    ['job?eventsLimit=1&events=0', 'eventsLimit must be absent with events=0'],
    ...each('audit?limit=', ['0', 'x'], LIMIT),
    ...each('keys?limit=', ['0', ...NUMBERS], LIMIT),
    ...each('keys?cursor=', ['', '-1', 'A', 'a/b', 'a'.repeat(33), '%00'], CURSOR),
    ...each(
      'audit?cursor=',
      ['', 'x', '1', '-1', '1-', '1-0-0', '%2B'],
      'cursor must be the nextCursor of an earlier page',
    ),
  ];
  /** Return the path of a query that these rows write without it. */
  const pathOf = (query: string) => {
    if (query.startsWith('job?')) return query.replace('job', `/jobs/${target.jobId}`);
    return /^(audit|keys|spaces)\?/.test(query) ? `/${query}` : `/spaces/target/${query}`;
  };
  it.each(titled(wrong))('refuses the query $title', async ({ query, errors }) => {
    expect(summary(await service.call('GET', pathOf(query)))).toEqual(refusal(...errors));
  });

  it.each(['&&&', `offset=${'9'.repeat(20)}`, `offset=${'9'.repeat(400)}`])('accepts the query %s', async (query) => {
    expect((await service.call('GET', `/spaces/target/jobs?${query}`)).status).toBe(200);
  });

  const MAY_WAIT = ['Create Job', 'Get Job'].map(endpointOf);
  const waits = ['-1', 'x', '', '1e1', '%201', '.5', '1.'].map((value) => [value, `waitSeconds ${WAIT}`]);
  it.each(waits)('refuses waitSeconds=%s in a query', async (value, error) => {
    for (const endpoint of MAY_WAIT) {
      const path = `${endpoint.path}?waitSeconds=${value}`;
      expect(summary(await callEndpoint(service, { ...endpoint, path }, target))).toEqual(refusal(error as string));
    }
  });

  const FLAGS: Record<string, string> = { 'Custom Event': 'ephemeral', 'Revoke Key': 'keepChildren' };
  const FLAG = 'must be true or false';
  it.each(Object.keys(FLAGS))('refuses a flag in the query of %s that is neither true nor false', async (name) => {
    const endpoint = endpointOf(name);
    for (const value of ['yes', '1', '', 'TRUE']) {
      const path = `${endpoint.path}?${FLAGS[name]}=${value}`;
      const response = await callEndpoint(service, { ...endpoint, path }, target);
      expect(summary(response)).toEqual(refusal(`${FLAGS[name]} ${FLAG}`));
    }
  });

  const LISTS = ['status', 'name', 'tag', 'level'];
  it.each(ENDPOINTS)('refuses a query parameter of $name that is given twice, except in lists', async (endpoint) => {
    for (const name of parametersOf(contract.operation(endpoint).operation)) {
      if (LISTS.includes(name)) continue;
      const path = `${endpoint.path}?${name}=1&${name}=1`;
      const response = await callEndpoint(service, { ...endpoint, path }, target);
      expect(summary(response)).toEqual(refusal(`${name} must appear exactly once`));
    }
  });

  // Queries of logs are tested in test/logs.
  const notOfLogs = ENDPOINTS.filter(({ name }) => !name.endsWith('Logs'));
  it.each(notOfLogs)('the tests refuse a value of every field in the query and the body of $name', (endpoint) => {
    const { name, path } = endpoint;
    const ends = path.replace('/jobs/:jobId', '/job');
    const inQuery = wrong.filter(([query = '']) => ends.endsWith(`/${query.split('?')[0]}`)).flat();
    const beside = [
      ...(MAY_WAIT.includes(endpoint) ? waits.flat() : []),
      ...(name in FLAGS ? [`${FLAGS[name]} ${FLAG}`] : []),
    ];
    const errors = [...(REFUSED[name]?.flatMap((row) => row.errors) ?? inQuery), ...beside];
    const isRefused = (field: string) => errors.some((error) => new RegExp(`^${field} `).test(error));
    expect(fieldsOf(contract.operation(endpoint).operation).filter((field) => !isRefused(field))).toEqual([]);
  });
});

it('stores nothing when requests are refused, and keeps serving', async () => {
  expect(await stateOf(service, target)).toEqual(before);
  expect(await createJob(service, 'works')).toMatchObject({ status: 'pending' });
});
