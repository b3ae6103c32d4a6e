// What all charts share: a light card, readable on a dark page and a light one, with the outcome as its title.
import domino from '@mixmark-io/domino';
import * as Plot from '@observablehq/plot';

export const WIDTH = 840;
export const INNER_WIDTH = WIDTH - 48;
export const INK = '#1f2328';
export const MUTED = '#59636e';

/** Colours that are told apart also by those who see no red or no green; white text is readable on each. */
export const COLORS = {
  blue: '#0969da',
  orange: '#bc4c00',
  purple: '#8250df',
  green: '#1a7f37',
  grey: '#6e7781',
  navy: '#0a3069',
};

const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
const document = domino.createDocument('');

/** About as wide as a text is. Nothing measures text here, so the same figures give the same file on every machine. */
export const textWidth = (text, size = 12) => [...text].length * size * 0.57;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Draw marks with Plot in the card's type; the text of an svg element's contents. */
export function draw(options) {
  const svg = Plot.plot({ document, width: INNER_WIDTH, ...options });
  // Plot's own rules are for a page around it.
  svg.querySelector('style').remove();
  // HTML's entity, which an svg file does not know.
  return svg.innerHTML.replaceAll('&nbsp;', '\u00a0');
}

/** The keys of the colours in rows, and how high they are together. */
function legendOf(entries) {
  let [x, row] = [0, 0];
  const texts = entries.map(({ name, color }) => {
    const width = 30 + textWidth(name);
    if (x > 0 && x + width > INNER_WIDTH) [x, row] = [0, row + 1];
    const at = `translate(${24 + Math.round(x)},${86 + row * 20})`;
    x += width;
    return `<g transform="${at}"><rect width="12" height="12" y="-10" rx="2" fill="${color}"/><text x="18">${escaped(name)}</text></g>`;
  });
  return { text: texts.join('\n'), height: entries.length === 0 ? 0 : (row + 1) * 20 + 4 };
}

/**
 * Put a chart on its card.
 *
 * @param title the outcome, with its figures
 * @param subtitle what is shown, and how it was measured
 * @param description the same for those who cannot see it, with the figures
 * @param legend names and their colours, none when the chart names its lines itself
 * @param plot what `draw` made, so many pixels high
 */
export function card({ title, subtitle, description, legend = [], plot, height }) {
  if (textWidth(title, 17) > INNER_WIDTH) throw new Error(`this title is too long for its card: ${title}`);
  if (textWidth(subtitle) > INNER_WIDTH + 40) throw new Error(`this subtitle is too long for its card: ${subtitle}`);
  const keys = legendOf(legend);
  const top = 72 + keys.height;
  const total = top + height + 14;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${total}" viewBox="0 0 ${WIDTH} ${total}" role="img" aria-labelledby="title description" font-family="${FONT}" font-size="12" color="${INK}" fill="currentColor">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${total - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text x="24" y="36" font-size="17" font-weight="600">${escaped(title)}</text>
<text x="24" y="57" fill="${MUTED}">${escaped(subtitle)}</text>
${keys.text}
<g transform="translate(24,${top})" text-anchor="middle">${plot}</g>
</svg>
`;
}
