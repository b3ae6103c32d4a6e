import { widthOf } from './printable.js';

/** An output such as `process.stdout`, which may be a terminal. */
export interface Terminal {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Write lines at once. They must be printable. */
export const writeLines = (out: Terminal, lines: string[]) => out.write(lines.map((line) => `${line}\n`).join(''));

/** Return the size of a terminal. Some terminals do not report their size, or report 0. */
export const sizeOf = ({ columns, rows }: Terminal) => ({ columns: columns || 80, rows: rows || 24 });

/**
 * The last lines of a terminal, which are drawn over in place, with lines that scroll away above them.
 *
 * Between two draws the terminal is in its original state, and the cursor is at the start of the line below. So nothing
 * has to be restored when the process is ended or stopped, not even by Ctrl-Z or kill -9.
 */
export class Region {
  readonly #terminal: Terminal;
  /** Columns of each line that was drawn last. */
  #widths: number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /**
   * Draw the region again.
   *
   * @param lines must be fewer than the terminal has rows, because the top could not be reached again otherwise
   * @param above lines that scroll away
   */
  draw(lines: string[], above: string[] = []): void {
    const up = this.#height();
    this.#widths = lines.map(widthOf);
    const back = up > 0 ? `\u001b[${up}A` : '';
    // Each line is erased before it is written, because erasing it afterwards would take the last column's character.
    const text = [...above, ...lines].map((line) => `\r\u001b[2K${line}\n`).join('');
    // Wrapping is off in the meantime, because terminals disagree about the width of some emoji, and a line must stay one.
    // All is in one write, so that no half of it is ever seen.
    this.#terminal.write(`\u001b[?7l${back}${text}\u001b[J\u001b[?7h`);
  }

  /** Return the rows that the region takes now, because a terminal that was made narrower has broken its lines. */
  #height(): number {
    const { columns } = sizeOf(this.#terminal);
    return this.#widths.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns)), 0);
  }
}
