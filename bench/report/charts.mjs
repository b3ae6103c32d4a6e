// Charts as SVG files: a light card, readable on a dark page and a light one. The same figures make the same file on every
// machine, because the width of text is estimated.
import domino from '@mixmark-io/domino';
import * as Plot from '@observablehq/plot';
import { figure } from './tables.mjs';

const WIDTH = 840;
const INNER_WIDTH = WIDTH - 48;
const MUTED = '#59636e';
const AXIS = 48;
const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";

/** Colours that people with colour blindness can distinguish; white text is readable on each. */
export const COLORS = { blue: '#0969da', orange: '#bc4c00', purple: '#8250df', green: '#1a7f37', red: '#cf222e' };

const document = domino.createDocument('');

/** Estimate the width of a text in pixels. */
const textWidth = (text) => [...text].length * 6.84;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * Draw marks with Plot on a card.
 *
 * @param chart.title the subject, `subtitle` the method, `description` the figures in words
 * @param chart.series names and their colours, for the legend
 * @param chart.height of the marks, in pixels; everything else is Plot's
 */
function card({ title, subtitle, description, series, height, marks, ...plot }) {
  const svg = Plot.plot({
    document,
    width: INNER_WIDTH,
    height,
    marginBottom: AXIS,
    color: { domain: series.map(({ name }) => name), range: series.map(({ color }) => color) },
    marks,
    ...plot,
  });
  svg.querySelector('style').remove(); // Its rules are for a page around the chart.
  let x = 24;
  const legend = series.map(({ name, color }) => {
    const at = x;
    x += 30 + textWidth(name);
    return `<g transform="translate(${Math.round(at)},86)"><rect width="12" height="12" y="-10" rx="2" fill="${color}"/><text x="18">${escaped(name)}</text></g>`;
  });
  const total = 96 + height + 14;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${total}" viewBox="0 0 ${WIDTH} ${total}" role="img" aria-labelledby="title description" font-family="${FONT}" font-size="12" color="#1f2328" fill="currentColor">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${total - 1}" rx="8" fill="#ffffff" stroke="#d1d9e0"/>
<text x="24" y="36" font-size="17" font-weight="600">${escaped(title)}</text>
<text x="24" y="57" fill="${MUTED}">${escaped(subtitle)}</text>
${legend.join('\n')}
<g transform="translate(24,96)" text-anchor="middle">${svg.innerHTML.replaceAll('&nbsp;', '\u00a0')}</g>
</svg>
`;
}

const tick = (value) => (typeof value === 'number' ? figure(value, Number.isInteger(value) ? 0 : 1) : value);
const axis = { labelArrow: 'none', labelAnchor: 'center' };

/**
 * Draw a chart of sums and their parts.
 *
 * @param parts in the order in which they are stacked: name and colour
 * @param bars from top to bottom: a label, and the value of each part
 * @param unit of the values, as the axis shows it
 */
export function stackedBars({ parts, bars, unit, ...texts }) {
  const sums = bars.map(({ label, values }) => ({ label, sum: values.reduce((sum, value) => sum + value, 0) }));
  const max = Math.max(...sums.map(({ sum }) => sum));
  const segments = bars.flatMap(({ label, values }) =>
    values.map((value, i) => ({ label, value, part: parts[i].name })),
  );
  const stacked = { x: 'value', y: 'label', z: 'part', order: parts.map(({ name }) => name) };
  return card({
    ...texts,
    description: `${unit}. ${sums.map(({ label, sum }) => `${label}: ${figure(sum)}`).join('; ')}.`,
    series: parts,
    height: bars.length * 42 + AXIS,
    marginTop: 0,
    marginLeft: Math.max(...bars.map(({ label }) => textWidth(label))) + 14,
    marginRight: 44,
    x: { domain: [0, max], grid: true, label: unit, tickFormat: tick, ticks: 6, ...axis },
    y: { domain: bars.map(({ label }) => label), label: null, tickSize: 0, padding: 0.38 },
    marks: [
      Plot.barX(segments, Plot.stackX({ ...stacked, fill: 'part' })),
      // A segment that is too short for its figure shows none; the table contains the figure.
      Plot.textX(
        segments,
        Plot.stackX({ ...stacked, text: ({ value }) => (value > max / 18 ? figure(value) : ''), fill: 'white' }),
      ),
      Plot.text(sums, {
        x: 'sum',
        y: 'label',
        text: ({ sum }) => figure(sum),
        textAnchor: 'start',
        dx: 8,
        fontWeight: 600,
      }),
      Plot.ruleX([0], { stroke: MUTED }),
    ],
  });
}

/** 1, 2 and 5 of each power of ten. */
const STEPS = [0.01, 0.1, 1, 10, 100, 1_000].flatMap((power) => [power, 2 * power, 5 * power]);

/** Return the ends of an axis and its ticks: a linear axis begins at 0, a logarithmic one near the lowest value. */
function scaleOf(type, values) {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  if (type === 'linear') return { type, domain: [0, max], nice: true, ticks: 6 };
  const [low, high] = [STEPS.findLast((step) => step <= min), STEPS.find((step) => step >= max)];
  return { type, domain: [low, high], ticks: STEPS.filter((step) => step >= low && step <= high) };
}

/**
 * Draw a chart of lines.
 *
 * @param series name, colour and points {x, y}
 * @param x label; type `log` or `point` (words at even distances); ticks: their values
 * @param y label; type `linear`, which begins at 0, or `log`
 */
export function lines({ series, x, y, ...texts }) {
  const points = series.flatMap(({ name, points: own }) => own.map((point) => ({ name, ...point })));
  const ends = series.map(({ name, points: own }) => {
    const [first, last] = [own[0], own.at(-1)];
    return `${name}: ${figure(first.y)} at ${tick(first.x)}, ${figure(last.y)} at ${tick(last.x)}`;
  });
  return card({
    ...texts,
    description: `${y.label} by ${x.label}. ${ends.join('; ')}.`,
    series,
    height: 300,
    marginTop: 26,
    marginLeft: 44,
    marginRight: 24,
    x: { type: x.type, domain: x.domain, ticks: x.ticks, tickFormat: tick, label: x.label, ...axis },
    y: {
      ...scaleOf(
        y.type,
        points.map((point) => point.y),
      ),
      tickFormat: tick,
      tickSize: 0,
      grid: true,
      label: y.label,
      labelArrow: 'none',
    },
    marks: [
      ...(y.type === 'log' ? [] : [Plot.ruleY([0], { stroke: MUTED })]),
      Plot.line(points, { x: 'x', y: 'y', stroke: 'name', strokeWidth: 2 }),
      Plot.dot(points, { x: 'x', y: 'y', fill: 'name', r: 3 }),
    ],
  });
}
