import { isJsonObject, type JsonObject, type JsonValue, LOG_DEFAULTS } from '@yardmaster/protocol';
import { bold, type Color, dim, plain, red, yellow } from '../color.js';
import { localTime } from '../lines.js';
import { printable, printableJson } from '../printable.js';

/** Turns an entry, as the server sent it, into one line. */
export type LineOfEntry = (entry: JsonObject) => string;

/** Length of the longest levels, such as `fatal`, so that the text after a level starts in one column. */
const LEVEL_COLUMNS = 5;

const LEVEL_PAINTS: Record<string, Color> = {
  trace: dim,
  debug: dim,
  warn: yellow,
  error: red,
  fatal: (text) => bold(red(text)),
};

/** Format an entry as it came, on one line that is safe to print. */
export const jsonLine: LineOfEntry = (entry) => printableJson(JSON.stringify(entry));

/** Format an entry as a plain line: `2026-01-31T09:30:01.768Z warn  disk: 92 % full {"mount":"/var"}` */
export const plainLine: LineOfEntry = (entry) => lineOf(entry, { time: (timestamp) => timestamp, isColored: false });

/** Format an entry as a line in colours, with the time of day in the time zone of the user. */
export const terminalLine: LineOfEntry = (entry) => lineOf(entry, { time: localTime, isColored: true });

function lineOf(entry: JsonObject, { time, isColored }: { time: (timestamp: string) => string; isColored: boolean }) {
  const [level, source, metadata] = [textOf(entry.level), textOf(entry.source), entry.metadata];
  const color = (by: Color) => (isColored ? by : plain);
  const words = [
    color(dim)(time(textOf(entry.loggedAt))),
    color(LEVEL_PAINTS[level] ?? plain)(level.padEnd(LEVEL_COLUMNS)),
    source === '' || source === LOG_DEFAULTS.source ? '' : color(dim)(`${source}:`),
    textOf(entry.message),
    isJsonObject(metadata) && Object.keys(metadata).length > 0 ? color(dim)(printable(JSON.stringify(metadata))) : '',
  ];
  return words
    .filter((word) => word !== '')
    .join(' ')
    .trimEnd();
}

const textOf = (value: JsonValue | undefined) => (typeof value === 'string' ? printable(value) : '');
