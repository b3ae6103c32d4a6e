// Markdown tables of results, and the formats of their figures.

const PAD = { left: (text, width) => text.padEnd(width), right: (text, width) => text.padStart(width) };
const RULE = { left: (width) => '-'.repeat(width), right: (width) => `${'-'.repeat(width - 1)}:` };
const lineOf = (cells) => `| ${cells.join(' | ')} |`;

/** Create a column of text from its label and a function of the row. */
export const text = (label, cell) => ({ label, cell, side: 'left' });

/** Create a column of figures. */
export const figures = (label, cell) => ({ label, cell, side: 'right' });

/** Format a table with columns as wide as their widest cell; null without rows. */
export function markdownTable(rows, columns) {
  if (!rows?.length) return null;
  const cells = [columns.map(({ label }) => label), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((line) => line[at].length)));
  const [head, ...body] = cells.map((line) => lineOf(line.map((cell, at) => PAD[columns[at].side](cell, widths[at]))));
  return [head, lineOf(columns.map(({ side }, at) => RULE[side](widths[at]))), ...body].join('\n');
}

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** Return the number of decimals for a figure of this size: 0.42, 4.3, 12.5, 412. */
function decimalsOf(value) {
  if (value === 0 || Math.abs(value) >= 100) return 0;
  return Math.abs(value) < 1 ? 2 : 1;
}

/** Format a figure with three digits, or with this number of decimals: `0.42`, `4.3`, `412`, `15,600`. */
export function figure(value, decimals) {
  const rounded = decimals === undefined && Math.abs(value) >= 1_000 ? Number(value.toPrecision(3)) : value;
  const [integer, fraction] = rounded.toFixed(decimals ?? decimalsOf(value)).split('.');
  return fraction === undefined ? grouped(integer) : `${grouped(integer)}.${fraction}`;
}

/** Format a median and its quartiles, with the precision of the median: `412 (398–431)`; empty without values. */
export function spread(values) {
  if (values === undefined) return '';
  const [median, low, high] = values;
  const decimals = median >= 1_000 ? undefined : decimalsOf(median);
  return `${figure(median, decimals)} (${figure(low, decimals)}–${figure(high, decimals)})`;
}

/** Format a count: `64`, `1,000,000`. */
export const whole = (number) => figure(number, 0);

/** Format a ratio: `1.8×`, `0.56×`, `12×`; or with this number of decimals. */
export const ratio = (value, decimals) => `${figure(value, decimals ?? (value >= 10 ? 0 : undefined))}×`;

/** Format bytes as megabytes: `80 MB`, `7.4 MB`. */
export const megabytes = (bytes) => `${figure(bytes / 1_048_576, bytes < 10_485_760 ? 1 : 0)} MB`;

/** Format a fraction as a percentage: `31%`, `0.4%`. */
export const percent = (part) => `${figure(part * 100, part < 0.1 ? 1 : 0)}%`;
