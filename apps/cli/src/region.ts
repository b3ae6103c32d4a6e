import { widthOf } from './printable.js';

/** A terminal to write to, such as `process.stdout`. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

/** Some terminals do not tell their size, or say 0. */
export const sizeOf = ({ columns, rows }: Terminal) => ({ columns: columns || 80, rows: rows || 24 });

/**
 * The last lines of a terminal, drawn over in place, with lines that scroll away above them.
 *
 * Between two draws the terminal is as we found it, the cursor at the start of the line below: so that whatever ends or
 * stops the process, Ctrl-Z and kill -9 too, leaves nothing to be restored.
 */
export class Region {
  readonly #terminal: Terminal;
  /** Columns of each line that stands there. */
  #widths: number[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /**
   * Draw the region anew.
   *
   * @param lines fewer than the terminal has rows, else the top cannot be reached again
   * @param above lines that scroll away
   */
  draw(lines: string[], above: string[] = []): void {
    const up = this.#height();
    this.#widths = lines.map(widthOf);
    const back = up > 0 ? `\u001b[${up}A` : '';
    // Each line is erased before it is written: at the last column, erasing after would take the last character.
    const text = [...above, ...lines].map((line) => `\r\u001b[2K${line}\n`).join('');
    // No wrapping meanwhile: terminals disagree about the width of some emoji, and a line must stay one. In one write,
    // so that no half of it is ever seen.
    this.#terminal.write(`\u001b[?7l${back}${text}\u001b[J\u001b[?7h`);
  }

  /** Rows that it takes now: a terminal made narrower has broken its lines. */
  #height(): number {
    const { columns } = sizeOf(this.#terminal);
    return this.#widths.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns)), 0);
  }
}
