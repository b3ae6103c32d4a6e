// Tables in Markdown of what was measured, and how figures are written in them.

const PAD = { left: (text, width) => text.padEnd(width), right: (text, width) => text.padStart(width) };
const RULE = { left: (width) => '-'.repeat(width), right: (width) => `${'-'.repeat(width - 1)}:` };
const lineOf = (cells) => `| ${cells.join(' | ')} |`;

/** A column of text: its label, and the text of a row's cell. */
export const text = (label, cell) => ({ label, cell, side: 'left' });

/** A column of figures. */
export const figures = (label, cell) => ({ label, cell, side: 'right' });

/** A table whose source reads as one: its columns are as wide as their widest cell. Null when there are no rows. */
export function markdownTable(rows, columns) {
  if (!rows?.length) return null;
  const cells = [columns.map(({ label }) => label), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((line) => line[at].length)));
  const [head, ...body] = cells.map((line) => lineOf(line.map((cell, at) => PAD[columns[at].side](cell, widths[at]))));
  return [head, lineOf(columns.map(({ side }, at) => RULE[side](widths[at]))), ...body].join('\n');
}

const apart = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ' ');

/** Decimals that a figure of this size is worth: 0.42, 4.3, 12.5, 412. */
function decimalsOf(value) {
  if (value === 0 || Math.abs(value) >= 100) return 0;
  return Math.abs(value) < 1 ? 2 : 1;
}

/** A figure of three digits at most, or with so many decimals: `0.42`, `4.3`, `412`, `15 600`. */
export function figure(value, decimals) {
  const rounded = decimals === undefined && Math.abs(value) >= 1_000 ? Number(value.toPrecision(3)) : value;
  const [integer, fraction] = rounded.toFixed(decimals ?? decimalsOf(value)).split('.');
  return fraction === undefined ? apart(integer) : `${apart(integer)}.${fraction}`;
}

/** A median with its quartiles, with the digits of the median: `412 (398–431)`; nothing of nothing. */
export function spread(values) {
  if (values === undefined) return '';
  const [median, low, high] = values;
  const decimals = median >= 1_000 ? undefined : decimalsOf(median);
  return `${figure(median, decimals)} (${figure(low, decimals)}–${figure(high, decimals)})`;
}

/** A count: `64`, `1 000 000`. */
export const whole = (number) => figure(number, 0);

/** How many times as much: `× 1.8`, `× 0.56`, `× 12`; or with so many decimals. */
export const ratio = (value, decimals) => `× ${figure(value, decimals ?? (value >= 10 ? 0 : undefined))}`;

/** Bytes as megabytes: `80 MB`, `7.4 MB`. */
export const megabytes = (bytes) => `${figure(bytes / 1_048_576, bytes < 10_485_760 ? 1 : 0)} MB`;

/** A part of the whole: `31 %`, `0.4 %`. */
export const percent = (part) => `${figure(part * 100, part < 0.1 ? 1 : 0)} %`;
