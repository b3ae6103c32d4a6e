import { setImmediate as letOthersRun } from 'node:timers/promises';
import {
  checkLog,
  type FaultDetail,
  invalidRequest,
  LIMITS,
  logBatch,
  logEntryInputs,
  type NameOfEntry,
  type NewLog,
  type UnknownName,
  YardmasterError,
} from '@yardmaster/protocol';
import { type PackedLog, packLog } from '@yardmaster/store';
import type { Call, Examples } from '../../call.js';
import { inflateBody, readRawBody } from '../body.js';
import { type Held, type Input, JSON_TYPE, reportUnknownFields } from '../input.js';
import { type BatchBounds, jsonEntriesOf, type SentLog } from './json-entries.js';
import { isBlankByte, textOf } from './json-parts.js';

const TYPES = [JSON_TYPE, 'application/x-ndjson', 'application/ndjson'] as const;

/** Create an input that reads a batch of log entries in any supported format and packs them for storage. */
export const logs = (examples: Examples, lines: Examples): Input<PackedLog[]> => ({
  queries: [],
  parameters: [],
  body: {
    content: {
      [JSON_TYPE]: { schema: logBatch, examples },
      // NDJSON is described as a list of its lines, as later versions of OpenAPI recommend.
      'application/x-ndjson': { schema: logEntryInputs, examples: lines },
      'application/ndjson': { schema: logEntryInputs, examples: lines },
    },
    isOptional: false,
    sizes: ({ logWireBytes, logBatchBytes, logEntries, logEntryBytes }) =>
      `At most ${logWireBytes} bytes on the wire, ${logBatchBytes} bytes decompressed, and ${logEntries} entries of ${logEntryBytes} bytes of JSON each. The batch can be compressed with \`Content-Encoding: gzip\`.`,
  },
  async read(call, held) {
    const unknown: UnknownName[] = [];
    try {
      return await readBatch(call, held, unknown);
    } finally {
      reportUnknownFields(call.req, call.res, unknown);
    }
  },
});

/**
 * Read a batch of log entries.
 *
 * @param unknown receives the unknown fields of the batch and its entries
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, UNAVAILABLE
 * @see docs/logs.md#append
 */
async function readBatch(call: Call, held: Held, unknown: UnknownName[]): Promise<PackedLog[]> {
  const { req, deps } = call;
  const { sizes, inflateBudget } = deps;
  const rawBody = await readRawBody(req, { types: TYPES, limit: sizes.logWireBytes });
  if (rawBody === null) throw noEntry();
  const { batch, release } = await inflateBudget.acquire(() => inflateBody(rawBody, sizes.logBatchBytes));
  held.hold(release);
  call.bytes = batch.length;
  if (batch.length === 0) throw noEntry();
  const bounds = { ...sizes, unknown };
  return checkAndPack((rawBody.type === JSON_TYPE ? jsonEntriesOf : ndjsonEntriesOf)(batch, bounds), bounds);
}

const noEntry = () => new YardmasterError('INVALID_REQUEST', 'logs must have at least one entry');

async function checkAndPack(
  entries: SentLog[],
  { logEntries, logEntryBytes, unknown }: BatchBounds,
): Promise<PackedLog[]> {
  if (entries.length === 0) throw noEntry();
  if (entries.length > logEntries) {
    throw new YardmasterError('TOO_LARGE', `logs must have at most ${logEntries} entries`);
  }
  const packed: PackedLog[] = [];
  const faults: FaultDetail[] = [];
  let parsed = 0;
  for (const { json, pathForErrors } of entries) {
    if (json.length > logEntryBytes * MAX_UNPARSED_RATIO) throw tooLarge(logEntryBytes, pathForErrors);
    parsed += json.length;
    if (parsed > MAX_CHARACTERS_PER_TURN) {
      parsed = 0;
      await letOthersRun();
    }
    const log = checkJson(json, pathForErrors, unknown);
    if (Array.isArray(log)) {
      faults.push(...log);
      if (faults.length >= LIMITS.faultDetails) break;
    } else {
      const text = packLog(log);
      checkFits(text, logEntryBytes, pathForErrors);
      packed.push(text);
    }
  }
  if (faults.length > 0) throw invalidRequest(faults);
  return packed;
}

/** Parse and validate one entry. @returns the entry, or its faults */
function checkJson(json: string, pathForErrors: NameOfEntry, unknown: UnknownName[]): NewLog | FaultDetail[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return [{ path: pathForErrors(''), message: `${pathForErrors('')} must be valid JSON` }];
  }
  return checkLog(value, pathForErrors, unknown);
}

/** Characters of JSON to parse before other requests get a turn: about 3 ms, or 20 ms if all objects are small. */
const MAX_CHARACTERS_PER_TURN = 256 * 1024;

/** Bytes that packing adds to an entry: its level, the commas around it, a bracket. */
const PACKING_BYTES = 4;

/** How many times longer an entry may be before parsing: `\u00e9` is stored as two bytes, and some fields are ignored. */
const MAX_UNPARSED_RATIO = 4;

/** Maximum bytes of UTF-8 per UTF-16 code unit. Most entries are short enough that their bytes need not be counted. */
const BYTES_PER_UNIT = 3;

function checkFits(packed: PackedLog, limit: number, pathForErrors: NameOfEntry): void {
  if (packed.length * BYTES_PER_UNIT <= limit) return;
  if (Buffer.byteLength(packed) > limit + PACKING_BYTES) throw tooLarge(limit, pathForErrors);
}

const tooLarge = (limit: number, pathForErrors: NameOfEntry) =>
  new YardmasterError('TOO_LARGE', `${pathForErrors('')} must be at most ${limit} bytes of JSON`);

const LINE_END = 0x0a;

/** Split NDJSON into its entries, one per line, skipping blank lines. */
export function ndjsonEntriesOf(body: Buffer, { logEntries }: BatchBounds): SentLog[] {
  const entries: SentLog[] = [];
  let lineNumber = 1;
  for (let at = 0; at < body.length && entries.length <= logEntries; at++) {
    const byte = body[at] as number;
    if (byte === LINE_END) lineNumber++;
    if (isBlankByte(byte)) continue;
    const end = body.indexOf(LINE_END, at);
    const to = end === -1 ? body.length : end;
    entries.push({ json: textOf(body, { from: at, to }), pathForErrors: nameOfLine(lineNumber) });
    at = to - 1; // The next iteration counts the line break.
  }
  return entries;
}

const nameOfLine = (lineNumber: number) => (field: string) =>
  field === '' ? `line ${lineNumber}` : `line ${lineNumber}: ${field}`;
