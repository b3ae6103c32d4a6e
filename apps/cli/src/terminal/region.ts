import { widthOf } from './printable.js';

/** An output that may be a terminal, such as `process.stdout`. */
export interface Terminal {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Write lines in one call. They must be printable. */
export const writeLines = (out: Terminal, lines: string[]) => out.write(lines.map((line) => `${line}\n`).join(''));

/** Return the size of a terminal. Some report 0 or nothing; the default is 80 by 24. */
export const sizeOf = ({ columns, rows }: Terminal) => ({ columns: columns || 80, rows: rows || 24 });

/**
 * The last lines of a terminal, redrawn in place, with other lines scrolling away above them.
 *
 * Between two draws, the terminal is in its normal state and the cursor is at the start of the line below. So nothing
 * needs to be restored when the process ends or is suspended, even by Ctrl-Z or kill -9.
 */
export class Region {
  readonly #terminal: Terminal;
  /** Width of each line of the last draw, in columns. */
  #widths: number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /**
   * Redraw the region.
   *
   * @param lines fewer than the terminal has rows, because the cursor can't move back above the top
   * @param above new lines to print above the region
   */
  draw(lines: string[], above: string[] = []): void {
    const up = this.#height();
    this.#widths = lines.map(widthOf);
    const back = up > 0 ? `\u001b[${up}A` : '';
    // Erase each line before writing it: erasing afterward would remove the character in the last column.
    const text = [...above, ...lines].map((line) => `\r\u001b[2K${line}\n`).join('');
    // Wrapping is off while drawing, because terminals disagree about the width of some emoji and a line must not wrap.
    // One write for everything, so that no partial draw is ever visible.
    this.#terminal.write(`\u001b[?7l${back}${text}\u001b[J\u001b[?7h`);
  }

  /** Return the current height of the region in rows. A terminal that became narrower has wrapped its lines. */
  #height(): number {
    const { columns } = sizeOf(this.#terminal);
    return this.#widths.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns)), 0);
  }
}
