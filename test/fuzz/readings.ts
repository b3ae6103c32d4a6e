import { SCOPES } from '@yardmaster/protocol';
import { callbackHeaderFaults, isCallbackUrl } from './callback-readings.js';
import {
  byVerdict,
  type Fault,
  field,
  isName,
  isNumber,
  isRecord,
  isTimestamp,
  type JsonRecord,
  jsonFaults,
  type Reading,
  tooLarge,
  unless,
  wrong,
} from './fault.js';
import { readProgress } from './progress-readings.js';

// How the bodies of the specification are to be read, written down a second time and by hand, with nothing of the
// schemas that the service checks them by.

const EVENT = 65_536;
const PAYLOAD = 262_144;

/** A field that is not there, or null, where null stands for that. */
const isNone = (value: unknown) => value === undefined || value === null;

/** Of `Object.keys` a name like `__proto__` is one as any other; an absent field is its default. */
function createJob(body: JsonRecord): Reading {
  const [name, payload, maxRetries, timeoutSeconds, callbackUrl, callbackHeaders] = [
    'name',
    'payload',
    'maxRetries',
    'timeoutSeconds',
    'callbackUrl',
    'callbackHeaders',
  ].map((each) => field(body, each));
  return {
    faults: [
      ...unless(isName(name), wrong('name')),
      ...(isNone(payload) ? [] : isRecord(payload) ? jsonFaults(payload, 'payload', PAYLOAD) : [wrong('payload')]),
      ...unless(
        maxRetries === undefined || (Number.isInteger(maxRetries) && isNumber(maxRetries, 0, 100)),
        wrong('maxRetries'),
      ),
      ...unless(
        timeoutSeconds === undefined || isNumber(timeoutSeconds, Number.MIN_VALUE, 86_400),
        wrong('timeoutSeconds'),
      ),
      ...(isNone(callbackUrl) ? [] : byVerdict(isCallbackUrl(callbackUrl), wrong('callbackUrl'))),
      ...(isNone(callbackHeaders)
        ? []
        : isRecord(callbackHeaders)
          ? callbackHeaderFaults(callbackHeaders)
          : [wrong('callbackHeaders')]),
    ],
    value: {
      name,
      payload: payload ?? null,
      maxRetries: maxRetries ?? 3,
      timeoutSeconds: timeoutSeconds ?? 300,
      callbackUrl: callbackUrl ?? null,
      callbackHeaders: callbackHeaders ?? null,
    },
  };
}

function filterFaults(value: unknown, at: string, mayBeOne: boolean): Fault[] {
  if (value === undefined) return [];
  const list = mayBeOne && typeof value === 'string' ? [value] : value;
  return unless(Array.isArray(list) && list.length <= 100 && list.every(isName), wrong(at));
}

function poll(body: JsonRecord): Reading {
  const count = field(body, 'count');
  return {
    faults: [
      ...unless(count === undefined || (Number.isInteger(count) && (count as number) >= 1), wrong('count')),
      ...['types', 'names'].flatMap((each) => filterFaults(field(body, each), each, false)),
      ...['type', 'name'].flatMap((each) => filterFaults(field(body, each), each, true)),
    ],
  };
}

const data = (value: unknown): Reading => ({ faults: jsonFaults(value, 'body', EVENT), value });

function complete(body: JsonRecord): Reading {
  const result = field(body, 'result') ?? null;
  return { faults: jsonFaults(result, 'result', PAYLOAD), value: result };
}

function fail(body: JsonRecord): Reading {
  const error = field(body, 'error');
  const isRight = typeof error === 'string' || isRecord(error);
  return { faults: isRight ? jsonFaults(error, 'error', EVENT) : [wrong('error')], value: error };
}

function kill(body: JsonRecord): Reading {
  const reason = field(body, 'reason') ?? null;
  if (reason !== null && typeof reason !== 'string') return { faults: [wrong('reason')] };
  return { faults: unless(Buffer.byteLength(JSON.stringify(reason)) <= EVENT, tooLarge('reason')), value: reason };
}

function createKey(body: JsonRecord): Reading {
  const [name, scopes, spaceId, expiresAt] = ['name', 'scopes', 'spaceId', 'expiresAt'].map((each) =>
    field(body, each),
  );
  const areScopes =
    Array.isArray(scopes) && scopes.length > 0 && scopes.every((each) => (SCOPES as readonly unknown[]).includes(each));
  return {
    faults: [
      ...unless(isName(name), wrong('name')),
      ...unless(areScopes, wrong('scopes')),
      ...unless(!areScopes || scopes.length <= 50, wrong('scopes')),
      ...unless(isNone(spaceId) || (typeof spaceId === 'string' && /^[\w.:-]{1,128}$/.test(spaceId)), wrong('spaceId')),
      ...(isNone(expiresAt) ? [] : byVerdict(isTimestamp(expiresAt), wrong('expiresAt'))),
      ...unless(!(areScopes && scopes.includes('keys:manage') && !isNone(spaceId)), wrong('scopes')),
    ],
    value: { name, scopes: [...new Set(areScopes ? scopes : [])], spaceId: spaceId ?? null },
  };
}

/** A body that is an object, and may be absent unless a field of it is required. What is no field of it is ignored. */
const anObject =
  (read: (body: JsonRecord) => Reading) =>
  (value: unknown): Reading => {
    if (value === undefined) return read({});
    return isRecord(value) ? read(value) : { faults: [wrong('body')] };
  };

/** How each body is to be read, by method and path; undefined is none. Those of logs have a reading of their own. */
export const READINGS: Record<string, (value: unknown) => Reading> = {
  'POST /api/v1/spaces/:spaceId/jobs': anObject(createJob),
  'POST /api/v1/spaces/:spaceId/jobs/poll': anObject(poll),
  'POST /api/v1/jobs/:jobId/progress': anObject(readProgress),
  'POST /api/v1/jobs/:jobId/checkpoint': (value) => data(value ?? null),
  'POST /api/v1/jobs/:jobId/event': (value) => data(value ?? null),
  'POST /api/v1/jobs/:jobId/complete': anObject(complete),
  'POST /api/v1/jobs/:jobId/fail': anObject(fail),
  'POST /api/v1/jobs/:jobId/kill': anObject(kill),
  'POST /api/v1/keys': anObject(createKey),
};
