import { clip, pad, printable, widthOf } from './printable.js';
import { sizeOf, type Terminal } from './region.js';

/** A column of a table. */
export interface Column<Row> {
  title: string;
  /** The text of a cell. It need not be printable. */
  of: (row: Row) => string;
  /** Whether cells are aligned at the right, as numbers are. Default false. */
  isNumber?: boolean;
}

/** Columns of a cell in an output that is not a terminal. `--json` prints all of it. */
const CELL_COLUMNS = 60;

/** Format rows as a table with a line of titles; on a terminal no wider than that. */
export function tableOf<Row>(columns: Column<Row>[], rows: Row[], out: Terminal): string[] {
  const cells = rows.map((row) => columns.map(({ of }) => clip(printable(of(row)), CELL_COLUMNS)));
  const all = [columns.map(({ title }) => title), ...cells];
  const widths = columns.map((_, i) => Math.max(...all.map((line) => widthOf(line[i] ?? ''))));
  return all.map((line) => {
    const text = line.map((cell, i) => aligned(cell, widths[i] ?? 0, columns[i]?.isNumber === true)).join('  ');
    return out.isTTY ? clip(text.trimEnd(), sizeOf(out).columns) : text.trimEnd();
  });
}

const aligned = (cell: string, width: number, isNumber: boolean) =>
  isNumber ? ' '.repeat(Math.max(0, width - widthOf(cell))) + cell : pad(cell, width);
