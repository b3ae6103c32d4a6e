import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  completeRequest,
  createJobRequest,
  createKeyRequest,
  dataRequest,
  failRequest,
  killRequest,
  pollRequest,
  progressRequest,
} from '@yardmaster/protocol';
import type { z } from 'zod';
import { createJob } from '../support/jobs.js';
import { Contract } from '../support/openapi.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let contract: Contract;
beforeAll(async () => {
  service = await startService();
  contract = new Contract((await service.call('GET', '/openapi.json')).body, { isClosed: false });
});
afterAll(() => service.stop());

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const headers = (count: number) => Object.fromEntries(names(count).map((name) => [name, 'x']));
const stages = (count: number) => Object.fromEntries(names(count).map((name) => [name, { percent: 1 }]));
const key = (fields: object) => ({ name: 'k', scopes: ['jobs:read'], ...fields });

type Check = (value: unknown) => boolean | Promise<boolean>;

const by =
  (schema: z.ZodType): Check =>
  (value) =>
    schema.safeParse(value).success;

/** A batch of logs is taken apart by hand, so only the service can tell. */
const isLogged: Check = async (value) => {
  const { id } = await createJob(service, 'logged');
  return (await service.call('POST', `/jobs/${id}/logs`, { body: value })).status === 200;
};

/** A body, by its name in the document: what is taken, and what is refused. */
const BODIES: Record<string, { check: Check; taken: unknown[]; refused: unknown[] }> = {
  NewJob: {
    check: by(createJobRequest),
    taken: [
      { name: 'x'.repeat(128) },
      { name: '\u{1f600}'.repeat(128) },
      { name: 'x', unknown: 1 },
      { name: 'x', payload: null, maxRetries: 0, timeoutSeconds: 0.001, callbackUrl: null, callbackHeaders: null },
      { name: 'x', payload: { a: [1, {}] }, maxRetries: 100, timeoutSeconds: 86_400 },
      { name: 'x', callbackUrl: 'HTTPS://example.com:8443/a?b#c' },
      { name: 'x', callbackHeaders: headers(20) },
      { name: 'x', callbackHeaders: { 'x-tab': 'a\tb\u00ff' } },
    ],
    refused: [
      null,
      [],
      'x',
      {},
      { name: '' },
      { name: 1 },
      { name: null },
      { name: 'x'.repeat(129) },
      { name: 'x', payload: [] },
      { name: 'x', payload: 'x' },
      { name: 'x', maxRetries: 101 },
      { name: 'x', maxRetries: 1.5 },
      { name: 'x', maxRetries: null },
      { name: 'x', timeoutSeconds: 0 },
      { name: 'x', timeoutSeconds: 86_401 },
      { name: 'x', callbackUrl: 'ftp://example.com' },
      { name: 'x', callbackUrl: 'http://user@example.com' },
      { name: 'x', callbackUrl: `http://example.com/${'x'.repeat(2_048)}` },
      { name: 'x', callbackHeaders: headers(21) },
      { name: 'x', callbackHeaders: { host: 'x' } },
      { name: 'x', callbackHeaders: { 'a b': 'x' } },
      { name: 'x', callbackHeaders: { a: 'x\ny' } },
      { name: 'x', callbackHeaders: { a: 1 } },
    ],
  },
  Poll: {
    check: by(pollRequest),
    taken: [
      {},
      { count: 1 },
      { count: 1e300 },
      { types: [] },
      { type: 'x' },
      { type: names(100) },
      { names: ['x'], name: 'y' },
    ],
    refused: [
      { count: 0 },
      { count: 1.5 },
      { count: '1' },
      { types: 'x' },
      { types: [''] },
      { type: names(101) },
      { name: 1 },
      [],
    ],
  },
  Progress: {
    check: by(progressRequest),
    taken: [
      { percent: 0, message: 'x' },
      { percent: 99.5, message: 'x', subProgress: {} },
      { percent: 100, message: 'x', subProgress: stages(50) },
      { percent: 1, message: 'x', subProgress: { a: { percent: 1, message: '' } } },
    ],
    refused: [
      { percent: -1, message: 'x' },
      { percent: 100.1, message: 'x' },
      { percent: 1 },
      { percent: 1, message: '' },
      { percent: 1, message: 'x', subProgress: [] },
      { percent: 1, message: 'x', subProgress: null },
      { percent: 1, message: 'x', subProgress: stages(51) },
      { percent: 1, message: 'x', subProgress: { a: {} } },
      { percent: 1, message: 'x', subProgress: { a: { percent: 1, message: 1 } } },
    ],
  },
  Completion: { check: by(completeRequest), taken: [{}, { result: null }, { result: [1] }], refused: [null, [], 1] },
  Failure: {
    check: by(failRequest),
    taken: [{ error: '' }, { error: {} }],
    refused: [{}, { error: null }, { error: [] }],
  },
  Kill: { check: by(killRequest), taken: [{}, { reason: null }, { reason: 'x' }], refused: [null, { reason: 1 }] },
  LogBatch: {
    check: isLogged,
    taken: [
      ['x'],
      [''],
      { logs: ['x', { message: 'y' }] },
      [{ message: '', level: 'fatal', timestamp: '2026-01-31T10:30:04.784+01:00', source: '', metadata: {} }],
    ],
    refused: [
      [],
      {},
      { logs: [] },
      [1],
      [{}],
      [{ message: 1 }],
      [{ message: 'x', level: 'loud' }],
      [{ message: 'x', metadata: [] }],
    ],
  },
  KeyRequest: {
    check: by(createKeyRequest),
    taken: [
      key({}),
      key({ scopes: ['keys:manage'], spaceId: null }),
      key({ spaceId: 'a.b:c_d-e', expiresAt: null }),
      key({ expiresAt: '2027-01-01T00:00:00+01:00' }),
      key({ scopes: Array(50).fill('jobs:read') }),
    ],
    refused: [
      {},
      key({ scopes: [] }),
      key({ scopes: ['x'] }),
      key({ scopes: Array(51).fill('jobs:read') }),
      key({ scopes: ['jobs:read', 'keys:manage'], spaceId: 'a' }),
      key({ spaceId: '' }),
      key({ spaceId: 'a/b' }),
      key({ expiresAt: 'tomorrow' }),
      key({ expiresAt: '2027-01-01T00:00:00' }),
    ],
  },
};

const faults = (name: string, value: unknown) => contract.faults(`/components/schemas/${name}`, value);

describe.each(Object.keys(BODIES))('%s is documented as it is checked', (name) => {
  const { check, taken, refused } = BODIES[name] as (typeof BODIES)[string];

  it.each(taken.map((value) => [value]))('takes %j', async (value) => {
    expect({ faults: faults(name, value), isTaken: await check(value) }).toEqual({
      faults: [],
      isTaken: true,
    });
  });

  it.each(refused.map((value) => [value]))('refuses %j', async (value) => {
    expect({ isRefused: faults(name, value).length > 0, isTaken: await check(value) }).toEqual({
      isRefused: true,
      isTaken: false,
    });
  });
});

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

/** JSON Schema has no words for these: the document says them in sentences. */
it.each<{ what: string; schema: z.ZodType; name: string; value: unknown }>([
  { what: 'JSON of more than 64 levels', schema: completeRequest, name: 'Completion', value: { result: nested(65) } },
  { what: 'half a character', schema: createJobRequest, name: 'NewJob', value: { name: '\ud800' } },
  {
    what: 'a header twice',
    schema: createJobRequest,
    name: 'NewJob',
    value: { name: 'x', callbackHeaders: { a: '1', A: '2' } },
  },
  {
    what: 'a header of another case',
    schema: createJobRequest,
    name: 'NewJob',
    value: { name: 'x', callbackHeaders: { Host: '1' } },
  },
  {
    what: 'headers of more than 4 KB',
    schema: createJobRequest,
    name: 'NewJob',
    value: { name: 'x', callbackHeaders: { a: 'x'.repeat(4_096) } },
  },
])('leaves $what to its sentences', ({ schema, name, value }) => {
  expect({ faults: faults(name, value), isTaken: schema.safeParse(value).success }).toEqual({
    faults: [],
    isTaken: false,
  });
});

it('takes any JSON where that is what it says', () => {
  for (const value of [null, 0, '', [], {}, false]) expect(dataRequest.safeParse(value).success).toBe(true);
});
