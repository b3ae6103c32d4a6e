import type { ComponentChildren } from 'preact';
import { linkWith, route } from '../route.js';

/** Head of a column. */
export interface Head {
  title: string;
  /** Figures are right-aligned. */
  isNumber?: boolean;
  /** Longer explanation. */
  hint?: string;
  /** What the head shows instead of the title. */
  head?: ComponentChildren;
}

export interface Column<Row> extends Head {
  /** Content of its cell in a row. */
  cell: (row: Row) => ComponentChildren;
  /** Class of its cells. Default: `number` for figures. */
  class?: string;
  /** Whether its cells are the headers of their rows. */
  isRowHeader?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | null | undefined;
  classOf?: ((row: Row) => string | undefined) | undefined;
}

/** Show a table of rows, unless there are none. */
export function Table<Row extends { id: string }>({ label, columns, rows, classOf }: TableProps<Row>) {
  if (!rows?.length) return null;
  return (
    <TableFrame label={label} heads={columns}>
      {rows.map((row) => (
        <TableRow key={row.id} row={row} columns={columns} classOf={classOf} />
      ))}
    </TableFrame>
  );
}

/** A component of its own, so that a signal which one row reads renders only that row. */
function TableRow<Row>({ row, columns, classOf }: Pick<TableProps<Row>, 'columns' | 'classOf'> & { row: Row }) {
  return (
    <tr class={classOf?.(row)}>
      {columns.map(({ title, isNumber, class: className = isNumber ? 'number' : undefined, isRowHeader, cell }) => {
        const Cell = isRowHeader ? 'th' : 'td';
        return (
          <Cell key={title} scope={isRowHeader ? 'row' : undefined} class={className}>
            {cell(row)}
          </Cell>
        );
      })}
    </tr>
  );
}

interface TableFrameProps {
  label: string;
  heads: readonly Head[];
  children: ComponentChildren;
}

/** Show the head of a table and rows below it. It scrolls by itself when it is wider than the page. */
export function TableFrame({ label, heads, children }: TableFrameProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map(({ title, isNumber, hint, head }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined} title={hint}>
                {head ?? (title === '' ? <span class="hidden">Actions</span> : title)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** A button of a row. A screen reader also reads the name of the row, because every row has the same buttons. */
export function RowButton({ verb, name, onClick }: { verb: string; name: string; onClick: () => void }) {
  return (
    <button type="button" onClick={onClick}>
      {verb} …<bdi class="hidden"> {name}</bdi>
    </button>
  );
}

/** Links to the newest rows of a list, and to older ones. The address has the cursor of the page. */
export function Pages({ of, next }: { of: string; next: string | null }) {
  return (
    <nav class="pages" aria-label={`Pages of ${of}`}>
      {route.value.query.has('cursor') && <a href={linkWith({ cursor: null })}>Newest</a>}
      {next !== null && <a href={linkWith({ cursor: next })}>Older</a>}
    </nav>
  );
}
