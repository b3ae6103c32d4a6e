import { addUnknown, LIMITS, type NameOfEntry, type UnknownName, YardmasterError } from '@yardmaster/protocol';
import type { SizeLimits } from '../../call.js';
import { parseJson } from '../body.js';
import { endOfString, type Part, partsOf, skipBlanks, textOf } from './json-parts.js';

/** One entry of a batch as received. */
export interface SentLog {
  /** Unparsed JSON text. */
  json: string;
  pathForErrors: NameOfEntry;
}

/** Limits for reading a batch. Reading stops one entry past the limit. */
export interface BatchBounds extends Pick<SizeLimits, 'logEntries' | 'logEntryBytes'> {
  /** Receives the unknown fields of the batch and its entries. */
  unknown: UnknownName[];
}

/** Our choice: maximum number of fields other than `logs`, all of which are unknown. */
const FIELDS = 100;

const invalid = (sentence: string) => new YardmasterError('INVALID_REQUEST', sentence);
const invalidJson = () => invalid('body must be valid JSON');

/**
 * Split `[…]` or `{"logs": […]}` into its entries.
 *
 * The batch is split without parsing it, and its entries are later parsed one by one. A single `JSON.parse` would turn 5 MB
 * of `{}`, which take a few kilobytes on the wire, into hundreds of megabytes of objects (docs/upstream.md).
 *
 * @throws INVALID_REQUEST, TOO_LARGE
 */
export function jsonEntriesOf(body: Buffer, bounds: BatchBounds): SentLog[] {
  const from = skipBlanks(body, 0);
  const whole = { from, to: body.length };
  if (isAt(body, from, '[')) return entriesBetween(body, whole, bounds);
  if (isAt(body, from, '{')) return entriesBetween(body, logsIn(body, whole, bounds), bounds);
  parseJson(body.toString()); // A scalar, or not JSON at all.
  throw invalid('body must be an array of entries, or an object with logs');
}

const isAt = (body: Buffer, at: number, character: string) => body[at] === character.charCodeAt(0);

/** Return the parts between brackets. Only whitespace may follow the closing bracket. */
function partsBetween(body: Buffer, { from, to }: Part, most: number): Part[] {
  const found = partsOf(body, from, most);
  if (found === null || skipBlanks(body, found.end) < to) throw invalidJson();
  return found.parts;
}

function entriesBetween(body: Buffer, list: Part, { logEntries }: BatchBounds): SentLog[] {
  return partsBetween(body, list, logEntries).map((part, i) => ({
    json: textOf(body, part),
    pathForErrors: (field) => `logs[${i}]${field === '' ? '' : `.${field}`}`,
  }));
}

/** Find the value of `logs`. */
function logsIn(body: Buffer, object: Part, bounds: BatchBounds): Part {
  const members = partsBetween(body, object, FIELDS);
  if (members.length > FIELDS) throw invalid(`body must have at most ${FIELDS} fields`);
  let logs: Part | null = null;
  for (const member of members) {
    const { key, value } = readMember(body, member);
    if (key !== 'logs') checkUnknown(body, { key, value }, bounds);
    else if (logs !== null) throw invalid('logs must appear exactly once');
    else logs = value;
  }
  if (logs === null) throw invalid('logs is required');
  if (!isAt(body, logs.from, '[')) throw invalid('logs must be an array');
  return logs;
}

interface Member {
  key: string;
  value: Part;
}

/** Split `"key": value` into its parts. */
function readMember(body: Buffer, { from, to }: Part): Member {
  const open = skipBlanks(body, from);
  const close = endOfString(body, open);
  const colon = skipBlanks(body, close + 1);
  if (!isAt(body, open, '"') || !isAt(body, colon, ':') || colon >= to) throw invalidJson();
  const key = parseJson(textOf(body, { from: open, to: close + 1 })) as string;
  return { key, value: { from: skipBlanks(body, colon + 1), to } };
}

/** Check that an unknown field is valid JSON and no larger than an entry. */
function checkUnknown(body: Buffer, { key, value }: Member, { logEntryBytes, unknown }: BatchBounds): void {
  const path = key.slice(0, LIMITS.faultPathCharacters);
  if (value.to - value.from > logEntryBytes) {
    throw new YardmasterError('TOO_LARGE', `${path} must be at most ${logEntryBytes} bytes of JSON`);
  }
  parseJson(textOf(body, value));
  addUnknown(unknown, { path, name: key, known: ['logs'] });
}
