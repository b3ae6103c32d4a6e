import { ROUTES, type Route } from '@yardmaster/api';
import { logBatch } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Body } from './bodies.js';
import { IDEMPOTENCY_KEY } from './framings.js';
import { attempt, parsed } from './json-text.js';
import { isBound, keyRefusal } from './keys.js';
import { checked, invalid, type Outcome, type Reading, readValue, refusal, WIRE } from './read-value.js';
import type { FuzzRequest } from './request.js';
import { readsBody } from './schema-values.js';
import { refusalIn } from './twins.js';

export interface Expected {
  /** Null where several readings of the request are valid: any response that obeys the rules is correct. */
  outcomes: Outcome[] | null;
  /** The route that must serve it; null when it must be refused. */
  route: Route | null;
  /** The value of its body. */
  value?: unknown;
}

const only = (...outcomes: Outcome[]): Expected => ({ outcomes, route: null });
const ANY: Expected = { outcomes: null, route: null };

const LOG_BATCH = 5_242_880;
const LIST = 5_242_880;
const MOST_LOGS = 1_000;

/** From this length on, a part of a batch of logs may be too large, or be broken after that part; test/logs covers those. */
const LONG_LOGS = 8_000;

/** Return whether a key has expired already: the service uses the clock of Redis, which is that of this machine. */
function isExpired({ operation }: Route, value: unknown): boolean {
  const { expiresAt = null } = Object(value) as { expiresAt?: string | null };
  return operation === 'createKey' && expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

/** Decode UTF-8, including a byte order mark; null if the bytes are invalid. */
const decoded = (bytes: Buffer) =>
  attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

/** Read a batch of logs. test/logs checks which entry is wrong and how the response names it. */
function readLogs(text: string, isLines: boolean): Reading {
  if (text.length > LONG_LOGS || text.split(/"logs"|\\u/).length > 2) return null;
  const lines = text.split('\n').filter((line) => /[^ \t\r]/.test(line));
  const texts = (isLines ? lines : [text]).map(parsed);
  const value = isLines ? texts.map((json) => json?.value) : texts[0]?.value;
  const isRight = texts.every((json) => json !== null) && logBatch.safeParse(value).success;
  const entries = Array.isArray(value) ? value : (value as { logs?: unknown[] } | undefined)?.logs;
  if (isRight && (entries as unknown[]).length <= MOST_LOGS) return { faults: [], value: entries };
  return { faults: [invalid('logs', 'line', 'body'), refusal('TOO_LARGE')] };
}

/** Read a body: its size, its encoding, and then its value. */
function readBody(route: Route, body: Body | null): Reading {
  const read = (text: string, isLines = false) => (route.readBody ? readLogs(text, isLines) : readValue(route, text));
  // A body of no bytes is no body, regardless of its headers.
  if (body === null || body.wire.length === 0) return read('');
  const { wire, text, isLines } = body;
  const isList = route.list !== undefined && /^[ \t\r\n]*\[/.test(text?.toString('latin1') ?? '');
  const most = isList || route.settlesIn === 'outcomes' ? LIST : WIRE;
  const isLarge = wire.length > most || (text?.length ?? 0) > (route.readBody ? LOG_BATCH : most);
  if (isLarge) return { faults: [refusal('TOO_LARGE', 'body')] };
  const said = text && decoded(text);
  // Broken gzip may exceed a limit before it is found to be broken.
  return said
    ? read(said.value, isLines)
    : { faults: [invalid('body'), ...(text ? [] : [refusal('TOO_LARGE', 'body')])] };
}

function readQuery(schema: z.ZodType, pairs: readonly [name: string, value: string][]): Reading {
  const given: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) given[name] = name in given ? [given[name] as string, value].flat() : value;
  return checked(schema, { ...given }, 'query');
}

function readInput(request: FuzzRequest, route: Route): Reading {
  const { pairs } = request.query;
  if (pairs === null) return null;
  const unknown = pairs.filter(([name]) => !route.parameters.includes(name));
  if (unknown.length > 0) return { faults: unknown.map(([name]) => invalid(`unknown query parameter ${name}`)) };
  if (route.query) return readQuery(route.query, pairs);
  return readsBody(route) ? readBody(route, request.body) : { faults: [] };
}

/** Return the refusal because of the job, the key or the operation that the path names; null if there is none. */
function targetRefusal({ target, place, key }: FuzzRequest, route: Route): Outcome | null {
  if (target.is === 'key') return refusal('KEY_NOT_FOUND');
  if (target.is === 'operation') return refusal('OPERATION_NOT_FOUND');
  if (route.path.includes(':operationId')) return isBound(key) ? refusal('FORBIDDEN') : null;
  if (!route.path.includes(':jobId')) return null;
  if (target.is === 'job' || place === 'unknown') return refusal('JOB_NOT_FOUND');
  const code = isBound(key) ? 'FORBIDDEN' : refusalIn(place, route)?.code;
  return code === undefined ? null : refusal(code);
}

/** A longer head may be too large. */
const LONG_HEAD = 14_000;

/** Return what the first line and the headers determine; null if the request reaches its endpoint. */
function headExpected(
  { target, method, framing, query, route: { path } }: FuzzRequest,
  route: Route | undefined,
): Expected | null {
  if (framing.is === 'refused') return only(invalid('request', 'headers', 'Host'), { ...invalid(), status: 431 });
  const head = target.text + query.text + framing.lines;
  if (framing.is === 'cut' || target.is === 'unclear' || head.length > LONG_HEAD) return ANY;
  if (target.is === 'nothing') return only(refusal('NOT_FOUND'));
  if (target.is === 'path') return only(invalid('path'));
  if (method === 'OPTIONS') return only({ status: 204, code: null, at: [] });
  if (route === undefined) return only(refusal('METHOD_NOT_ALLOWED'));
  return target.is === 'space' && path.includes(':spaceId') ? only(invalid('spaceId')) : null;
}

/** Field that may be refused because of what is stored, or of the time, by operation. */
const MAY_BE_REFUSED: Record<string, string> = {
  pauseSpace: 'names', // The names that are paused already may leave no room for these.
  getHistory: 'from', // A period may have too many points; test/history knows which.
};

/** Return the correct responses to a request, in the order of the checks: path, key, scope, body, job. */
export function expectedOf(request: FuzzRequest): Expected {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const route = ROUTES.find((row) => row.path === request.route.path && row.method === method);
  const refusedByHead = headExpected(request, route);
  if (refusedByHead !== null || route === undefined) return refusedByHead ?? ANY;
  const refused = keyRefusal(request.key, route);
  if (refused !== null) return only(refusal(refused));
  const reading = readInput(request, route);
  if (reading === null) return ANY;
  if (reading.faults.length > 0) return only(...reading.faults);
  if (isExpired(route, reading.value)) return only(invalid('expiresAt'));
  // Which response it is depends on the requests before; test/model plays those.
  if (route.header === 'idempotency-key' && request.framing.lines.includes(IDEMPOTENCY_KEY)) return ANY;
  return { outcomes: outcomesOf(request, route, reading.value), route, value: reading.value };
}

/** Return the correct outcomes of a request whose head and body are valid. */
function outcomesOf(request: FuzzRequest, route: Route, value: unknown): Outcome[] {
  const accepted: Outcome = { status: route.status ?? 200, code: null, at: [] };
  const outcomes = [targetRefusal(request, route) ?? accepted];
  const dependsOnState = MAY_BE_REFUSED[route.operation];
  if (dependsOnState !== undefined) outcomes.push(invalid(dependsOnState));
  const { unique = null } = Object(value) as { unique?: object | null };
  if (route.operation === 'createJob' && unique !== null) {
    outcomes.push({ ...accepted, status: 200 }, refusal('JOB_NOT_UNIQUE'));
  }
  if (route.operation === 'startOperation') outcomes.push(refusal('TOO_MANY_OPERATIONS'));
  return outcomes;
}
