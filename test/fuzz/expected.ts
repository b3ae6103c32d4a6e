import { ROUTES, type Route } from '@yardmaster/api';
import { ERRORS, type ErrorCode, LIMITS, logBatch } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Body } from './bodies.js';
import { attempt, parsed } from './json-text.js';
import { isBound, keyRefusal } from './keys.js';
import type { FuzzRequest } from './request.js';
import { readsBody } from './schema-values.js';
import { refusalIn } from './twins.js';

/** An answer that is right. */
export interface Outcome {
  status: number;
  code: ErrorCode | null;
  /** Beginnings of the sentence; empty where the code says it all. */
  at: readonly string[];
}

export interface Expected {
  /** Null where what it means is left to the service: whatever it answers, it must do so well. */
  outcomes: Outcome[] | null;
  /** The row that is to serve it; null when it is to be refused. */
  route: Route | null;
  /** What its body says. */
  value?: unknown;
}

const refusal = (code: ErrorCode, ...at: string[]): Outcome => ({ status: ERRORS[code].status, code, at });
const invalid = (...at: string[]) => refusal('INVALID_REQUEST', ...at);
const only = (...outcomes: Outcome[]): Expected => ({ outcomes, route: null });
const ANY: Expected = { outcomes: null, route: null };

const WIRE = 1_048_576;

/** Parts that have a limit of their own, in bytes of JSON, by operation (contract §3); '' for the whole. */
const PARTS: Record<string, [part: string, limit: number]> = {
  ...{ createJob: ['payload', 262_144], completeJob: ['result', 262_144], failJob: ['error', 65_536] },
  ...{
    killJob: ['reason', 65_536],
    reportProgress: ['', 65_536],
    checkpointJob: ['', 65_536],
    recordEvent: ['', 65_536],
  },
};
const LOG_BATCH = 5_242_880;
const MOST_LOGS = 1_000;

/** So long, a part of a batch of logs may be too large, or be broken behind what is too large: test/logs has them all. */
const LONG_LOGS = 8_000;

/** Of several faults any may be named; null where tastes differ. */
type Reading = { faults: Outcome[]; value?: unknown } | null;

/** Ask the schema of an endpoint; `taken` is what it makes of the value. Null when it cannot say. */
function checked(schema: z.ZodType, value: unknown, whole: string) {
  const outcome = attempt(() => schema.safeParse(value))?.value;
  const faults = outcome?.error?.issues.map((issue) => invalid(beginningOf(issue, whole)));
  return outcome ? { value, taken: outcome.data, faults: faults ?? [] } : null;
}

function beginningOf(issue: z.core.$ZodIssue, whole: string): string {
  if (issue.code === 'unrecognized_keys') return `unknown field ${issue.keys[0]?.slice(0, LIMITS.faultPathCharacters)}`;
  return issue.path.length === 0 ? whole : String(issue.path[0]);
}

/** Whether a key would have expired when it is made: the service asks Redis' clock, which is this machine's. */
function isExpired({ operation }: Route, value: unknown): boolean {
  const { expiresAt = null } = Object(value) as { expiresAt?: string | null };
  return operation === 'createKey' && expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

/** Text of bytes, of which a mark at the beginning is a part; null for what is no UTF-8. */
const decoded = (bytes: Buffer) =>
  attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

function readValue({ body, operation, absentBody }: Route, text: string): Reading {
  const json = text === '' ? { value: absentBody === null ? null : {} } : parsed(text);
  if (json === null) return { faults: [invalid('body')] };
  const reading = checked(body as z.ZodType, json.value, 'body');
  if (reading === null || reading.faults.length > 0) return reading;
  const [part, limit] = PARTS[operation] ?? ['', WIRE];
  const measured = part === '' ? reading.taken : (reading.taken as Record<string, unknown>)[part];
  const isLarge = Buffer.byteLength(JSON.stringify(measured)) > limit;
  return { ...reading, faults: isLarge ? [refusal('TOO_LARGE', part || 'body')] : [] };
}

/** Read a batch of logs: which entry is wrong, and how the answer names it, is for test/logs. */
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

/** Read a body from the outside in. */
function readBody(route: Route, body: Body | null): Reading {
  const read = (text: string, isLines = false) => (route.readBody ? readLogs(text, isLines) : readValue(route, text));
  // A body of no bytes is none, whatever is said of it.
  if (body === null || body.wire.length === 0) return read('');
  const { wire, text, isLines } = body;
  const isLarge = wire.length > WIRE || (text?.length ?? 0) > (route.readBody ? LOG_BATCH : WIRE);
  if (isLarge) return { faults: [refusal('TOO_LARGE', 'body')] };
  const said = text && decoded(text);
  // Broken gzip may be too much before it is seen to be broken.
  return said
    ? read(said.value, isLines)
    : { faults: [invalid('body'), ...(text ? [] : [refusal('TOO_LARGE', 'body')])] };
}

function readQuery(schema: z.ZodType, { query: { pairs } }: FuzzRequest): Reading {
  if (pairs === null) return null;
  const given: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) given[name] = name in given ? [given[name] as string, value].flat() : value;
  return checked(schema, { ...given }, 'query');
}

function readInput(request: FuzzRequest, route: Route): Reading {
  if (route.query) return readQuery(route.query, request);
  return readsBody(route) ? readBody(route, request.body) : { faults: [] };
}

/** How the job, or the key, that is named keeps a request from being served. */
function jobRefusal({ target, place, key }: FuzzRequest, route: Route): Outcome | null {
  if (target.is === 'key') return refusal('KEY_NOT_FOUND');
  if (!route.path.includes(':jobId')) return null;
  if (target.is === 'job' || place === 'unknown') return refusal('JOB_NOT_FOUND');
  const code = isBound(key) ? 'FORBIDDEN' : refusalIn(place, route)?.code;
  return code === undefined ? null : refusal(code);
}

/** More than this of a head may be too much. */
const LONG_HEAD = 14_000;

/** How the first line and the headers keep a request from an endpoint; null when they do not. */
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

/** Find out what the service may answer, in the order of its checks: path, key, scope, body, job. */
export function expectedOf(request: FuzzRequest): Expected {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const route = ROUTES.find((row) => row.path === request.route.path && row.method === method);
  const unserved = headExpected(request, route);
  if (unserved !== null || route === undefined) return unserved ?? ANY;
  const refused = keyRefusal(request.key, route);
  if (refused !== null) return only(refusal(refused));
  const reading = readInput(request, route);
  if (reading === null) return ANY;
  if (reading.faults.length > 0) return only(...reading.faults);
  if (isExpired(route, reading.value)) return only(invalid('expiresAt'));
  const taken: Outcome = { status: route.status ?? 200, code: null, at: [] };
  return { outcomes: [jobRefusal(request, route) ?? taken], route, value: reading.value };
}
