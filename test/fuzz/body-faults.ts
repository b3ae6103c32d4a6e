import type { Body } from './body.js';
import { type Fault, type Reading, tooLarge, unclear, unless, wrong } from './fault.js';
import { parsed, readLogs } from './log-readings.js';
import { READINGS } from './readings.js';

const WIRE = 1_048_576;
const LOG_BATCH = 5_242_880;

const UNSUPPORTED: Fault = { at: [], code: 'UNSUPPORTED_MEDIA_TYPE' };

const ofLabel = (label: string): Fault[] =>
  label === 'wrong' ? [UNSUPPORTED] : label === 'unclear' ? [unclear(UNSUPPORTED)] : [];

/** What a body says, once it is known to be text. */
function readText(name: string, text: string, type: Body['type']): Reading {
  if (name.endsWith('/logs')) return readLogs(text, type === 'ndjson' ? 'ndjson' : 'json');
  const read = READINGS[name];
  if (read === undefined) throw new Error(`no reading of the body of ${name}: write one in readings.ts`);
  if (text === '') return read(undefined);
  const json = parsed(text);
  return json === null ? { faults: [wrong('body')] } : read(json.value);
}

function decoded(bytes: Buffer): string | null {
  try {
    // A mark at the beginning is part of the text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Read the body of an endpoint as the specification says, from the outside in. */
export function bodyFaults(name: string, body: Body | null): Reading {
  const isLogs = name.endsWith('/logs');
  // A body of no bytes is none, whatever is said of it.
  if (body === null || body.wire.length === 0) return readText(name, '', 'json');
  const { wire, text, type, coding } = body;
  const type_ = type === 'ndjson' && !isLogs ? 'wrong' : type;
  const outer = [...unless(wire.length <= WIRE, tooLarge('body')), ...ofLabel(type_), ...ofLabel(coding)];
  if (text === null) return { faults: [...outer, wrong('body')] };
  if (text.length > (isLogs ? LOG_BATCH : WIRE)) return { faults: [...outer, tooLarge('body')] };
  const read = decoded(text);
  if (read === null) return { faults: [...outer, wrong('body')] };
  const inner = readText(name, read, type);
  return { ...inner, faults: [...outer, ...inner.faults] };
}
