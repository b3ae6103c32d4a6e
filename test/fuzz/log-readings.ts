import { LOG_DEFAULTS, LOG_LEVELS } from '@yardmaster/protocol';
import {
  byVerdict,
  depthOf,
  type Fault,
  isRecord,
  isTimestamp,
  type JsonRecord,
  type Reading,
  tooLarge,
  unclear,
  unless,
  wrong,
} from './fault.js';

const ENTRY = 16_384;
const ENTRIES = 1_000;
/** An entry is measured as it is kept, with some bytes that nobody else sees: as near to the limit both may be right. */
const ROUGHLY = 80;

const isText = (value: unknown) => value === undefined || typeof value === 'string';
const own = (entry: JsonRecord, name: string) => (Object.hasOwn(entry, name) ? entry[name] : undefined);

function sizeFaults(parts: unknown[], at: string): Fault[] {
  if (depthOf(parts) > 100) return []; // It cannot be written, and has another fault.
  const bytes = parts.reduce(
    (sum: number, part) => sum + (part === undefined ? 0 : Buffer.byteLength(JSON.stringify(part))),
    0,
  );
  return byVerdict(bytes <= ENTRY - ROUGHLY ? true : bytes > ENTRY ? false : null, tooLarge(at));
}

/** The faults of an entry, named as the endpoint names them. */
function entryFaults(entry: unknown, at: string): Fault[] {
  if (typeof entry === 'string') return sizeFaults([entry], at);
  if (!isRecord(entry)) return [wrong(at)];
  const [message, level, timestamp, source, metadata] = ['message', 'level', 'timestamp', 'source', 'metadata'].map(
    (each) => own(entry, each),
  );
  const faults = [
    ...unless(typeof message === 'string', wrong(at)),
    ...unless(level === undefined || (LOG_LEVELS as readonly unknown[]).includes(level), wrong(at)),
    ...(timestamp === undefined ? [] : byVerdict(isTimestamp(timestamp), wrong(at))),
    ...unless(isText(source), wrong(at)),
    ...unless(metadata === undefined || (isRecord(metadata) && depthOf(metadata) <= 64), wrong(at)),
  ];
  return [...faults, ...sizeFaults([message, source, metadata], at)];
}

/** An entry as it is to be read back. */
function kept(entry: unknown): JsonRecord {
  if (typeof entry === 'string')
    return { level: LOG_DEFAULTS.level, message: entry, source: LOG_DEFAULTS.source, metadata: {} };
  const {
    level = LOG_DEFAULTS.level,
    message,
    source = LOG_DEFAULTS.source,
    metadata = {},
    timestamp,
  } = entry as JsonRecord;
  const loggedAt = isTimestamp(timestamp) ? { loggedAt: new Date(timestamp as string).toISOString() } : {};
  return { level, message, source, metadata, ...loggedAt };
}

function batchOf(entries: [at: string, entry: unknown][]): Reading {
  if (entries.length === 0) return { faults: [wrong('logs')] };
  const faults = entries.slice(0, ENTRIES + 1).flatMap(([at, entry]) => entryFaults(entry, at));
  if (entries.length > ENTRIES) return { faults: [tooLarge('logs')] };
  return { faults, value: faults.some(({ isUnclear }) => !isUnclear) ? null : entries.map(([, entry]) => kept(entry)) };
}

/** Parse JSON; null when it is none. */
export const parsed = (text: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};

/** What is broken may be found to be too much, in a part of any name, before it is found to be broken. */
const noJson = (text: string, at: string): Fault[] =>
  text.length > 2_000 ? [wrong(at, 'logs', 'body'), tooLarge()] : [wrong(at, 'logs', 'body')];

/** Read NDJSON. */
function readLines(text: string): Reading {
  const lines = text
    .split('\n')
    .map((line, i): [string, string] => [`line ${i + 1}`, line])
    .filter(([, line]) => /[^ \t\r]/.test(line));
  if (lines.length > ENTRIES) return { faults: [tooLarge('logs')] };
  const broken = lines.filter(([, line]) => parsed(line) === null);
  const right = lines.filter(([, line]) => parsed(line) !== null);
  const reading =
    lines.length === 0 || right.length > 0
      ? batchOf(right.map(([at, line]) => [at, parsed(line)?.value]))
      : { faults: [] };
  const longest = Math.max(0, ...lines.map(([, line]) => line.length));
  const faults = broken.flatMap(([at, line]) => noJson(line, at));
  return withLength({ ...reading, faults: [...reading.faults, ...faults] }, longest);
}

/** What an entry is sent as has a limit of its own, four times of what is kept. */
const withLength = (reading: Reading, longest: number): Reading =>
  longest > 4 * ENTRY ? { ...reading, faults: [...reading.faults, unclear(tooLarge('logs', 'line'))] } : reading;

/** So much of a name is quoted. */
const shortened = (name: string) => name.slice(0, 100);

function readWhole(text: string): Reading {
  const json = parsed(text);
  if (json === null) return { faults: noJson(text, 'body') };
  const { value } = json;
  if (Array.isArray(value)) return batchOf(value.map((entry, i) => [`logs[${i}]`, entry]));
  if (!isRecord(value)) return { faults: [wrong('body')] };
  const logs = own(value, 'logs');
  const reading = Array.isArray(logs)
    ? batchOf(logs.map((entry, i) => [`logs[${i}]`, entry]))
    : { faults: [wrong('logs')] };
  const extra = Object.entries(value).filter(([name]) => name !== 'logs');
  const large = extra.filter(([, each]) => depthOf(each) > 100 || JSON.stringify(each).length > ENTRY / 2);
  return {
    ...reading,
    faults: [
      ...reading.faults,
      // Written twice, it says two things.
      ...unless(text.split(/"logs"|\\u/).length <= 2, unclear(wrong('logs'))),
      ...unless(extra.length < 90, unclear(wrong('body'))),
      ...large.map(([name]) => unclear(tooLarge(shortened(name)))),
      // Of a name that is given twice, JavaScript only shows one.
      ...unless(text.length <= ENTRY, unclear(tooLarge(...extra.map(([name]) => shortened(name)), 'body'))),
    ],
  };
}

/** Read a batch of logs. */
export const readLogs = (text: string, type: 'json' | 'ndjson'): Reading =>
  type === 'ndjson' ? readLines(text) : withLength(readWhole(text), text.length);
