// Draw the screen of an @xterm/headless terminal as an SVG, which looks the same with any monospace font.

const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const BACKGROUND = '#161b22';
const FOREGROUND = '#e6edf3';

/** The first 8 colours of the palette. */
const COLORS = ['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'];

/** @returns the text of an SVG; `title` is the text for screen readers */
export function svgOf(terminal, title) {
  const { buffer, cols } = terminal;
  const lines = Array.from({ length: terminal.rows }, (_, row) => buffer.active.getLine(buffer.active.viewportY + row));
  while (lines.at(-1)?.translateToString(true) === '') lines.pop();
  const width = Math.ceil(cols * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  const shapes = lines.flatMap((line, row) => runsOf(line, cols).map((run) => shapeOf(run, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">
<title>${escapeXml(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
${shapes.join('\n')}
</svg>
`;
}

/** Cells of a line that look alike and follow each other, without blanks around them. */
function runsOf(line, cols) {
  const runs = [];
  for (let column = 0; column < cols; column++) {
    const cell = line.getCell(column);
    const text = cell.getChars();
    const look = JSON.stringify([lookOf(cell), /[█░]/.exec(text)?.[0]]);
    const last = runs.at(-1);
    if (last?.look === look) last.text += text || ' ';
    else runs.push({ column, look, text: text || ' ', ...lookOf(cell) });
  }
  return runs
    .map((run) => ({
      ...run,
      column: run.column + run.text.length - run.text.trimStart().length,
      text: run.text.trim(),
    }))
    .filter(({ text }) => text !== '');
}

const lookOf = (cell) => ({
  fill: cell.isFgPalette() ? COLORS[cell.getFgColor() % 8] : FOREGROUND,
  opacity: cell.isDim() ? 0.6 : 1,
  isBold: cell.isBold() !== 0,
});

function shapeOf({ column, text, fill, opacity, isBold }, row) {
  const x = (MARGIN + column * CELL.width).toFixed(1);
  const width = (text.length * CELL.width).toFixed(1);
  const y = MARGIN + row * CELL.height;
  // Blocks as rectangles, because a font may leave gaps between them.
  if (/^[█░]+$/.test(text)) {
    const shade = text[0] === '█' ? 1 : 0.25;
    return `<rect x="${x}" y="${y + 4}" width="${width}" height="${CELL.height - 8}" fill="${fill}" opacity="${shade}"/>`;
  }
  const weight = isBold ? ' font-weight="bold"' : '';
  const faint = opacity < 1 ? ` opacity="${opacity}"` : '';
  return `<text x="${x}" y="${y + 14}" textLength="${width}" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="${fill}"${weight}${faint}>${escapeXml(text)}</text>`;
}

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
