import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  checkLog,
  type FaultDetail,
  invalidRequest,
  isJsonObject,
  LIMITS,
  type NameOfEntry,
  YardmasterError,
} from '@yardmaster/protocol';
import { type PackedLog, packLog } from '@yardmaster/store';
import { parseJson, readWire, textOf } from './body.js';
import type { Incoming } from './incoming.js';
import { linesOf } from './log-lines.js';
import type { SizeLimits } from './sizes.js';

const JSON_TYPE = 'application/json';

const TYPES = [JSON_TYPE, 'application/x-ndjson', 'application/ndjson'] as const;

/** One entry of a batch as it came. */
export interface SentLog {
  /** Undefined for a line that is no JSON. */
  value: unknown;
  nameOf: NameOfEntry;
}

/**
 * Read a batch of log entries, in whichever format it comes.
 *
 * @param incoming counts the batch until `res` is sent
 * @returns its entries, packed for storage
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, UNAVAILABLE
 * @see spec §4.12
 */
export async function readLogBatch(
  req: IncomingMessage,
  res: ServerResponse,
  { sizes, incoming }: { sizes: SizeLimits; incoming: Incoming },
): Promise<PackedLog[]> {
  const wire = await readWire(req, { types: TYPES, limit: sizes.logWireBytes });
  if (wire === null) throw noEntry();
  const text = await incoming.take(res, () => textOf(wire, sizes.logBatchBytes));
  if (text.length === 0) throw noEntry();
  // From here to the packed entries nothing is awaited: of parsed batches, several times as large, there is one.
  const entries = wire.type === JSON_TYPE ? elementsOf(text.toString()) : linesOf(text.toString(), sizes.logEntries);
  return packAll(entries, sizes);
}

const noEntry = () => new YardmasterError('INVALID_REQUEST', 'logs must have at least one entry');

/** The entries of `[…]` or `{logs: […]}`. */
function elementsOf(text: string): SentLog[] {
  const body = parseJson(text);
  if (!Array.isArray(body) && !isJsonObject(body)) {
    throw new YardmasterError('INVALID_REQUEST', 'body must be an array of entries, or an object with logs');
  }
  const list = Array.isArray(body) ? body : body.logs;
  if (list === undefined) throw new YardmasterError('INVALID_REQUEST', 'logs is required');
  if (!Array.isArray(list)) throw new YardmasterError('INVALID_REQUEST', 'logs must be an array');
  return list.map((value, i) => ({ value, nameOf: (field) => `logs[${i}]${field === '' ? '' : `.${field}`}` }));
}

function packAll(entries: SentLog[], { logEntries, logEntryBytes }: SizeLimits): PackedLog[] {
  if (entries.length === 0) throw noEntry();
  if (entries.length > logEntries) {
    throw new YardmasterError('TOO_LARGE', `logs must have at most ${logEntries} entries`);
  }
  const packed: PackedLog[] = [];
  const faults: FaultDetail[] = [];
  for (const { value, nameOf } of entries) {
    const log = value === undefined ? [notJson(nameOf)] : checkLog(value, nameOf);
    if (Array.isArray(log)) faults.push(...log);
    else packed.push(packWithin(log, logEntryBytes, nameOf));
    if (faults.length >= LIMITS.faultDetails) break;
  }
  if (faults.length > 0) throw invalidRequest(faults);
  return packed;
}

function notJson(nameOf: NameOfEntry): FaultDetail {
  return { path: nameOf(''), message: `${nameOf('')} must be valid JSON` };
}

/** UTF-8 has at most this many bytes for one unit of UTF-16, which spares most entries the counting. */
const BYTES_PER_UNIT = 3;

function packWithin(log: Parameters<typeof packLog>[0], limit: number, nameOf: NameOfEntry): PackedLog {
  const text = packLog(log);
  if (text.length * BYTES_PER_UNIT > limit && Buffer.byteLength(text) > limit) {
    throw new YardmasterError('TOO_LARGE', `${nameOf('')} must be at most ${limit} bytes of JSON`);
  }
  return text;
}
