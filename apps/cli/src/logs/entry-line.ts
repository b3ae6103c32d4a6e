import { isJsonObject, type JsonObject, type JsonValue, LOG_DEFAULTS } from '@yardmaster/protocol';
import type { Format } from '../flags.js';
import { bold, type Color, dim, plain, red, yellow } from '../terminal/color.js';
import { localTime, printable, printableJson } from '../terminal/printable.js';

/** Formats an unvalidated entry as one line. */
type LineOfEntry = (entry: JsonObject) => string;

/** Width of the longest level names, such as `fatal`, to align what follows. */
const LEVEL_COLUMNS = 5;

const LEVEL_COLORS = new Map<string, Color>([
  ['trace', dim],
  ['debug', dim],
  ['warn', yellow],
  ['error', red],
  ['fatal', (text) => bold(red(text))],
]);

/** Return the formatter of an output format. On a terminal, lines have colors and the local time of day. */
export function lineOfEntryFor(format: Format, isTerminal: boolean): LineOfEntry {
  if (format === 'json') return (entry) => printableJson(JSON.stringify(entry));
  if (format === 'plain' || !isTerminal) return plainLine;
  return (entry) => lineOf(entry, { time: localTime, isColored: true });
}

/** Format an entry as a plain line: `2026-01-31T09:30:01.768Z warn  disk: 92% full {"mount":"/var"}` */
const plainLine: LineOfEntry = (entry) => lineOf(entry, { time: (timestamp) => timestamp, isColored: false });

function lineOf(entry: JsonObject, { time, isColored }: { time: (timestamp: string) => string; isColored: boolean }) {
  const [level, source, metadata] = [textOf(entry.level), textOf(entry.source), entry.metadata];
  const color = (chosen: Color) => (isColored ? chosen : plain);
  const words = [
    color(dim)(time(textOf(entry.loggedAt))),
    color(LEVEL_COLORS.get(level) ?? plain)(level.padEnd(LEVEL_COLUMNS)),
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
