import stringWidth from 'string-width';

// Names, messages and errors are untrusted: they come from workers and from any client that can create a job. Printed
// unchanged, they could move the cursor, forge lines, change the window title or write to the clipboard. So everything
// that is printed passes through these functions.

/** Well-formed terminal sequences (ECMA-48): CSI, such as colors; OSC, DCS and similar up to their end; all others. */
const SEQUENCES = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    // The body contains no control characters, so a search stops at the next one and takes linear time for any input.
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\p{Cc}]*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]*[0-Z\\\\^-~]',
  ].join('|'),
  'gu',
);

/** Characters that end a line or move along it, including U+0085 (next line). */
const SPACING = /[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]+/gu;

/** Invisible characters, such as direction overrides. The two joiners stay, because they shape words and emoji. */
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu;

/** Remaining control characters, and lone surrogates. */
const CONTROL = /[\p{Cc}\p{Cs}]/gu;

/** More combining marks than any script stacks on one letter. They would be drawn over the lines above. */
const STACKED_MARKS = /(\p{M}{8})\p{M}+/gu;

/** Make an untrusted text safe to print on one line: no escapes, line breaks or direction overrides. */
export function printable(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .replace(SPACING, ' ')
    .replace(INVISIBLE, '')
    .replace(CONTROL, '\ufffd')
    .replace(STACKED_MARKS, '$1');
}

/** Make a multi-line text safe to print, and keep its line breaks. */
export const printableLines = (text: string) => text.split('\n').map(printable).join('\n');

/** Characters that JSON allows unescaped in strings, but that are unsafe on a terminal or break lines. */
const UNSAFE_IN_JSON = /(?![\u200c\u200d])[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Make JSON safe to print on one line: the same value, with unsafe characters as `\u` escapes. */
export function printableJson(json: string): string {
  // Raw line breaks occur only between values, and other unsafe characters only in strings.
  return escapeUnsafe(json.replace(/[\t\n\r]+/g, ' '));
}

/** Replace unsafe characters of JSON strings with `\u` escapes. */
export const escapeUnsafe = (text: string) =>
  text.replace(UNSAFE_IN_JSON, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Format a value as one line of JSON that is safe to print. */
export const jsonLine = (value: unknown) => printableJson(JSON.stringify(value));

/** Return the width of a text on a terminal, in columns. Colors have no width. */
export const widthOf = (text: string) => stringWidth(text);

const graphemes = new Intl.Segmenter();

/** Cut a text to a width in columns, with `…` at the cut. Never splits a grapheme. */
export function clip(text: string, columns: number): string {
  let width = 0;
  let kept = '';
  for (const { segment, index } of graphemes.segment(text)) {
    width += widthOf(segment);
    if (width > columns) return columns > 0 ? `${kept}…` : '';
    // One column stays free for the `…`.
    if (width < columns) kept = text.slice(0, index + segment.length);
  }
  return text;
}

/** Pad a text with spaces to a width in columns. */
export const pad = (text: string, columns: number) => text + ' '.repeat(Math.max(0, columns - widthOf(text)));

/** Format an age as `kubectl` does: `45s`, `12m`, `3h` or `5d`. */
export function ageOf(seconds: number): string {
  const [unit, size] = AGE_UNITS.find(([, size]) => seconds >= size) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / size))}${unit}`;
}

const AGE_UNITS: [unit: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
];

/** Format a timestamp as the local time of day. */
export function localTime(timestamp: string): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? timestamp : date.toTimeString().slice(0, 8);
}

/** Format a timestamp as local time, with the date unless it is today. */
export function localMoment(timestamp: string): string {
  const date = new Date(timestamp);
  const isToday = date.toDateString() === new Date().toDateString();
  if (isToday || Number.isNaN(date.getTime())) return localTime(timestamp);
  return `${date.toLocaleDateString('sv-SE')} ${localTime(timestamp)}`; // The Swedish date format is that of ISO 8601.
}
