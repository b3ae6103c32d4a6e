import { clip, pad, printable, widthOf } from './printable.js';
import { sizeOf, type Terminal } from './region.js';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  /** Text of a cell; need not be printable. May be empty. */
  of: (row: Row) => string;
  /** Whether to align cells to the right, as for numbers. Default false. */
  isNumber?: boolean;
}

/**
 * Format rows as a table with a header.
 *
 * On a terminal, empty columns are omitted, and text in the last column is cut to fit the width.
 */
export function tableOf<Row>(columns: Column<Row>[], rows: Row[], out: Terminal): string[] {
  const shown = out.isTTY ? columns.filter(({ of }) => rows.some((row) => of(row) !== '')) : columns;
  const cells = rows.map((row) => shown.map(({ of }) => printable(of(row)) || '-'));
  const all = [shown.map(({ title }) => title), ...cells];
  const widths = shown.map((_, i) => all.reduce((width, line) => Math.max(width, widthOf(line[i] ?? '')), 0));
  const last = shown.length - 1;
  if (out.isTTY && last > 0 && !shown[last]?.isNumber) {
    const room = roomFor(shown[last]?.title ?? '', widths.slice(0, last), sizeOf(out).columns);
    for (const line of all) line[last] = clip(line[last] ?? '', room);
  }
  return all.map((line) =>
    line
      .map((cell, i) => aligned(cell, widths[i] ?? 0, shown[i]?.isNumber === true))
      .join(GAP)
      .trimEnd(),
  );
}

/** Format rows as CSV without a header, quoted as in RFC 4180. */
export const csvOf = <Row>(columns: Column<Row>[], rows: Row[]): string[] =>
  rows.map((row) => columns.map(({ of }) => csvCell(printable(of(row)))).join(','));

const csvCell = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const GAP = '  ';

/** Return the width left for the last cell of a line, which the terminal may wrap. */
function roomFor(title: string, widths: number[], columns: number): number {
  const used = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = columns - (used % columns);
  return room < widthOf(title) ? room + columns : room;
}

const aligned = (cell: string, width: number, isNumber: boolean) =>
  isNumber ? ' '.repeat(Math.max(0, width - widthOf(cell))) + cell : pad(cell, width);
