import { isJsonObject, type JsonObject, type JsonValue, LOG_DEFAULTS } from '@yardmaster/protocol';
import { localTime } from '../lines.js';
import { bold, dim, type Paint, plain, red, yellow } from '../paint.js';
import { printable, printableJson } from '../printable.js';

/** Turns an entry, as the server sent it, into one line. */
export type LineOfEntry = (entry: JsonObject) => string;

/** `fatal` and the like are five letters, so that what follows stands in one column. */
const LEVEL_COLUMNS = 5;

const LEVEL_PAINTS: Record<string, Paint> = {
  trace: dim,
  debug: dim,
  warn: yellow,
  error: red,
  fatal: (text) => bold(red(text)),
};

/** The entry as it came, on one line that is safe to print. */
export const jsonLine: LineOfEntry = (entry) => printableJson(JSON.stringify(entry));

/** `2026-01-31T09:30:01.768Z warn  disk: 92 % full {"mount":"/var"}` */
export const plainLine: LineOfEntry = (entry) => lineOf(entry, { time: (timestamp) => timestamp, isColoured: false });

/** The same with the time of day where the reader is, and in colours. */
export const terminalLine: LineOfEntry = (entry) => lineOf(entry, { time: localTime, isColoured: true });

function lineOf(entry: JsonObject, { time, isColoured }: { time: (timestamp: string) => string; isColoured: boolean }) {
  const [level, source, metadata] = [textOf(entry.level), textOf(entry.source), entry.metadata];
  const paint = (by: Paint) => (isColoured ? by : plain);
  const words = [
    paint(dim)(time(textOf(entry.loggedAt))),
    paint(LEVEL_PAINTS[level] ?? plain)(level.padEnd(LEVEL_COLUMNS)),
    source === '' || source === LOG_DEFAULTS.source ? '' : paint(dim)(`${source}:`),
    textOf(entry.message),
    isJsonObject(metadata) && Object.keys(metadata).length > 0 ? paint(dim)(printable(JSON.stringify(metadata))) : '',
  ];
  return words
    .filter((word) => word !== '')
    .join(' ')
    .trimEnd();
}

const textOf = (value: JsonValue | undefined) => (typeof value === 'string' ? printable(value) : '');
