// Horizontal bars made of parts, one bar per contestant.
import * as Plot from '@observablehq/plot';
import { card, draw, INNER_WIDTH, MUTED, textWidth } from './card.mjs';
import { figure } from './figures.mjs';

const BAR = 26;
const GAP = 16;
const AXIS = 48;

/**
 * A chart of sums and what they are made of.
 *
 * @param parts in the order in which they are stacked: name and colour
 * @param bars from top to bottom: a label, the values of its parts by name, and a note to stand behind the sum
 * @param unit what the values are, as the axis says it
 */
export function stackedBars({ parts, bars, unit, ...texts }) {
  const left = Math.max(...bars.map(({ label }) => textWidth(label))) + 14;
  const sums = bars.map(({ values }) => parts.reduce((sum, { name }) => sum + (values[name] ?? 0), 0));
  const ends = bars.map(({ note }, at) => (note ? `${figure(sums[at])} (${note})` : figure(sums[at])));
  const right = Math.max(...ends.map((end) => textWidth(end))) + 12;
  const max = Math.max(...sums);
  const pixels = (value) => (value / max) * (INNER_WIDTH - left - right);
  const segments = bars.flatMap(({ label, values }) =>
    parts.filter(({ name }) => values[name] > 0).map(({ name }) => ({ label, part: name, value: values[name] })),
  );
  const height = bars.length * (BAR + GAP) + AXIS;
  const stacked = { x: 'value', y: 'label', z: 'part', order: parts.map(({ name }) => name) };
  const plot = draw({
    height,
    marginTop: 0,
    marginBottom: AXIS,
    marginLeft: left,
    marginRight: right,
    x: {
      domain: [0, max],
      grid: true,
      label: unit,
      labelArrow: 'none',
      labelAnchor: 'center',
      tickFormat: tick,
      ticks: 6,
    },
    y: { domain: bars.map(({ label }) => label), label: null, tickSize: 0, padding: GAP / (BAR + GAP) },
    color: { domain: parts.map(({ name }) => name), range: parts.map(({ color }) => color) },
    marks: [
      Plot.barX(segments, Plot.stackX({ ...stacked, fill: 'part' })),
      // A figure that its segment has no room for is in the table.
      Plot.textX(
        segments,
        Plot.stackX({
          ...stacked,
          text: ({ value }) => (pixels(value) > textWidth(figure(value)) + 6 ? figure(value) : ''),
          fill: 'white',
        }),
      ),
      Plot.text(bars, {
        x: (_, at) => sums[at],
        y: 'label',
        text: (_, at) => ends[at],
        textAnchor: 'start',
        dx: 8,
        fontWeight: 600,
      }),
      Plot.ruleX([0], { stroke: MUTED }),
    ],
  });
  const description = bars.map(({ label }, at) => `${label}: ${ends[at]}`).join('; ');
  return card({ description: `${unit}. ${description}.`, legend: parts, plot, height, ...texts });
}

const tick = (value) => figure(value, 0);
