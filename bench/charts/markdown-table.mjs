// Tables in Markdown.

const PAD = { left: (text, width) => text.padEnd(width), right: (text, width) => text.padStart(width) };
const RULE = { left: (width) => '-'.repeat(width), right: (width) => `${'-'.repeat(width - 1)}:` };

/**
 * A table whose source reads as one, too: its columns are as wide as their widest cell.
 *
 * @param columns a label each, text to the left; figures to the right with `align: 'right'`; `cell` makes the text of a
 * row's cell
 */
export function markdownTable(rows, columns) {
  const cells = [columns.map(({ label }) => label), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((line) => line[at].length)));
  const sides = columns.map(({ align = 'left' }) => align);
  const [head, ...body] = cells.map((line) => lineOf(line.map((text, at) => PAD[sides[at]](text, widths[at]))));
  return [head, lineOf(sides.map((side, at) => RULE[side](widths[at]))), ...body].join('\n');
}

const lineOf = (cells) => `| ${cells.join(' | ')} |`;

/** A column of text. */
export const text = (label, cell) => ({ label, cell });

/** A column of figures. */
export const figures = (label, cell) => ({ label, cell, align: 'right' });
