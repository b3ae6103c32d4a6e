// Horizontal bars in groups: what the contestants reach at each of some tasks.
import * as Plot from '@observablehq/plot';
import { card, draw, MUTED, textWidth } from './card.mjs';
import { figure } from './figures.mjs';

const BAR = 22;
const AXIS = 48;
const GAP = 18;

/**
 * A chart of values by group and contestant.
 *
 * @param contestants in their order within each group: name and colour
 * @param groups from top to bottom: a label, and the values by contestant; a contestant may be absent
 * @param unit what the values are, as the axis says it
 */
export function groupedBars({ contestants, groups, unit, ...texts }) {
  const rows = groups.flatMap(({ label, values }) =>
    contestants
      .filter(({ name }) => values[name] !== undefined)
      .map(({ name }) => ({ group: label, name, value: values[name] })),
  );
  const height = groups.length * (contestants.length * BAR + GAP) + AXIS;
  const plot = draw({
    height,
    marginTop: 0,
    marginBottom: AXIS,
    marginLeft: Math.max(...groups.map(({ label }) => textWidth(label))) + 14,
    marginRight: Math.max(...rows.map(({ value }) => textWidth(figure(value)))) + 12,
    x: { grid: true, label: unit, labelArrow: 'none', labelAnchor: 'center', tickFormat: tick, ticks: 6 },
    y: { domain: contestants.map(({ name }) => name), axis: null, padding: 0.1 },
    fy: {
      domain: groups.map(({ label }) => label),
      label: null,
      axis: 'left',
      padding: GAP / (contestants.length * BAR + GAP),
    },
    color: { domain: contestants.map(({ name }) => name), range: contestants.map(({ color }) => color) },
    marks: [
      Plot.barX(rows, { x: 'value', y: 'name', fy: 'group', fill: 'name' }),
      Plot.text(rows, {
        x: 'value',
        y: 'name',
        fy: 'group',
        text: ({ value }) => figure(value),
        textAnchor: 'start',
        dx: 6,
        fontWeight: 600,
      }),
      Plot.ruleX([0], { stroke: MUTED }),
    ],
  });
  const description = rows.map(({ group, name, value }) => `${group}, ${name}: ${figure(value)}`).join('; ');
  return card({ description: `${unit}. ${description}.`, legend: contestants, plot, height, ...texts });
}

const tick = (value) => figure(value, 0);
