import type { Route } from '@yardmaster/api';
import {
  type CreateJobRequest,
  ERRORS,
  type ErrorCode,
  findUnknownFields,
  LIMITS,
  type UnknownName,
} from '@yardmaster/protocol';
import type { z } from 'zod';
import { attempt, parsed } from './json-text.js';

/** A correct response. */
export interface Outcome {
  status: number;
  code: ErrorCode | null;
  /** Possible beginnings of the message; empty where the code is enough. */
  at: readonly string[];
}

export const refusal = (code: ErrorCode, ...at: string[]): Outcome => ({ status: ERRORS[code].status, code, at });
export const invalid = (...at: string[]) => refusal('INVALID_REQUEST', ...at);

/** Largest body, except of a list. */
export const WIRE = 1_048_576;

/** Parts with their own limit, in bytes of JSON, by operation (contract §3); '' for the whole body. */
const PARTS: Record<string, [part: string, limit: number]> = {
  ...{ createJob: ['payload', 262_144], completeJob: ['result', 262_144], failJob: ['error', 65_536] },
  ...{
    releaseJob: ['reason', 65_536],
    killJob: ['reason', 65_536],
    reportProgress: ['', 65_536],
    checkpointJob: ['', 65_536],
    recordEvent: ['', 65_536],
  },
};

/** If there are several faults, any of them may be reported; null where several readings are valid. */
export type Reading = { faults: Outcome[]; value?: unknown } | null;

/** Parse a value by the schema of an endpoint, into `accepted`. Null when the schema throws. */
export function checked(schema: z.ZodType, value: unknown, whole: string) {
  const outcome = attempt(() => schema.safeParse(value))?.value;
  const faults = outcome?.error?.issues.map((issue) => invalid(beginningOf(issue, whole)));
  return outcome ? { value, accepted: outcome.data, faults: faults ?? [] } : null;
}

function beginningOf(issue: z.core.$ZodIssue, whole: string): string {
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]].join('.'); // No such object is in a list.
    return `unknown field ${path.slice(0, LIMITS.faultPathCharacters)}`;
  }
  return issue.path.length === 0 ? whole : String(issue.path[0]);
}

/** Return the refusals of unknown fields, where a row refuses them. */
function unknownIn({ fields }: Route, value: unknown) {
  const unknown: UnknownName[] = [];
  findUnknownFields(fields, value, unknown);
  return unknown.map(({ path }) => invalid(`unknown field ${path}`));
}

/** Read the text of a JSON body. */
export function readValue(route: Route, text: string): Reading {
  const { body, operation, absentBody, list } = route;
  const json = text === '' ? { value: absentBody === null ? null : {} } : parsed(text);
  if (json === null) return { faults: [invalid('body'), ...(list && /^\s*\[/.test(text) ? [invalid()] : [])] };
  if (list !== undefined && Array.isArray(json.value)) {
    // An item of a longer list may be too large; test/batch covers those.
    return text.length > WIRE ? null : readList(route, json.value);
  }
  const unknown = route.isStrict ? unknownIn(route, json.value) : [];
  if (unknown.length > 0) return { faults: unknown };
  return withLargePart(operation, checked(body as z.ZodType, json.value, 'body'));
}

/** Refuse a valid value if a part of it is over its limit. */
function withLargePart(operation: string, reading: ReturnType<typeof checked>): Reading {
  if (reading === null || reading.faults.length > 0) return reading;
  const part = largePart(operation, reading.accepted);
  return { ...reading, faults: part === null ? [] : [refusal('TOO_LARGE', part || 'body')] };
}

/** Return the part of a value that is over its limit, '' for the whole; null for none. */
function largePart(operation: string, accepted: unknown): string | null {
  const [part, limit] = PARTS[operation] ?? ['', WIRE];
  const measured = part === '' ? accepted : (accepted as Record<string, unknown>)[part];
  return Buffer.byteLength(JSON.stringify(measured)) > limit ? part : null;
}

/** Read a list of jobs. test/batch checks which item is wrong and how the response names it. */
function readList({ body, operation, list }: Route, items: unknown[]): Reading {
  if (items.length === 0 || items.length > (list as NonNullable<typeof list>).max) return { faults: [invalid('body')] };
  const readings = items.map((item) => checked(body as z.ZodType, item, ''));
  if (readings.includes(null)) return null;
  const isRejecting = (item: unknown) => (item as CreateJobRequest).unique?.onConflict === 'reject';
  const faults = readings.flatMap((it, i) => {
    if (it && (it.faults.length > 0 || isRejecting(it.accepted))) return [invalid(`[${i}]`)];
    return it && largePart(operation, it.accepted) !== null ? [refusal('TOO_LARGE', `[${i}]`)] : [];
  });
  return { value: items, faults };
}
