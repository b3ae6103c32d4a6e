import type { ComponentChildren } from 'preact';
import { linkWith, route } from '../route.js';

/** Head of a column. */
export interface Head {
  title: string;
  /** Whether to align cells to the right. */
  isNumber?: boolean;
  /** Tooltip with a longer explanation. */
  hint?: string;
  /** Content to show instead of the title. */
  head?: ComponentChildren;
}

export interface Column<Row> extends Head {
  /** Render the cell of a row. */
  cell: (row: Row) => ComponentChildren;
  /** Class of the cells. Default: `number` for numbers. */
  class?: string;
  /** Whether the cells are row headers. */
  isRowHeader?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | null | undefined;
  classOf?: ((row: Row) => string | undefined) | undefined;
}

/** Render rows as a table; nothing without rows. */
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

/** Render a row. As a separate component, it renders again only if a signal that it reads changes. */
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

/** Render the head of a table with rows below it. A table that is wider than the page scrolls on its own. */
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

/** Render a button of a row. Screen readers also read the name of the row, because all rows have the same buttons. */
export function RowButton({ verb, name, onClick }: { verb: string; name: string; onClick: () => void }) {
  return (
    <button type="button" onClick={onClick}>
      {verb}…<bdi class="hidden"> {name}</bdi>
    </button>
  );
}

/** Render links to the newest and to older rows of a list. The cursor of the page is in the URL. */
export function Pages({ of, next }: { of: string; next: string | null }) {
  return (
    <nav class="pages" aria-label={`Pages of ${of}`}>
      {route.value.query.has('cursor') && <a href={linkWith({ cursor: null })}>Newest</a>}
      {next !== null && <a href={linkWith({ cursor: next })}>Older</a>}
    </nav>
  );
}
