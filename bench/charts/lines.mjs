// Lines over a number of things, percentiles or time. Each is named at its end, so there is no legend to go back to.
import * as Plot from '@observablehq/plot';
import { card, draw, MUTED, textWidth } from './card.mjs';
import { figure } from './figures.mjs';

const HEIGHT = 320;
const TOP = 30;
const BOTTOM = 48;
const LINE = 16;

/**
 * A chart of lines, each point a measurement.
 *
 * @param series name, colour and points {x, y}; with quartiles {low, high} the line stands in their band
 * @param x label, type `linear`, `log` or `point` (words at even distances), ticks where they should stand
 * @param y label, and type `linear`, which begins at 0, or `log`
 * @param dots false for lines of so many points that they would touch
 */
export function lines({ series, x, y, dots = true, ...texts }) {
  const points = series.flatMap(({ name, points: own }) => own.map((point) => ({ name, ...point })));
  const ends = series.map(({ name, color, points: own }) => ({ name, color, ...own.at(-1) }));
  const labels = ends.map(({ name, y: value }) => `${name}: ${figure(value)}`);
  const scale = Plot.scale({ y: { ...domainOf(points, y.type), range: [HEIGHT - BOTTOM, TOP] } });
  const places = apart(ends.map(({ y: value }) => scale.apply(value)));
  const plot = draw({
    height: HEIGHT,
    marginTop: TOP,
    marginBottom: BOTTOM,
    marginLeft: 52,
    marginRight: Math.max(...labels.map((label) => textWidth(label))) + 16,
    x: { type: x.type, ...(x.domain && { domain: x.domain }) },
    y: { type: y.type, domain: scale.domain },
    color: { domain: series.map(({ name }) => name), range: series.map(({ color }) => color) },
    marks: [
      Plot.gridY({ ticks: ticksOf(y, scale) }),
      Plot.axisY({ ticks: ticksOf(y, scale), text: tick, tickSize: 0, label: y.label, labelArrow: 'none' }),
      Plot.axisX({ ticks: x.ticks, text: tick, label: x.label, labelArrow: 'none', labelAnchor: 'center' }),
      ...(y.type === 'log' ? [] : [Plot.ruleY([0], { stroke: MUTED })]),
      ...bands(points),
      Plot.line(points, { x: 'x', y: 'y', stroke: 'name', strokeWidth: 2 }),
      ...(dots ? [Plot.dot(points, { x: 'x', y: 'y', fill: 'name', r: 3 })] : []),
      Plot.text(ends, {
        x: 'x',
        y: (_, at) => scale.invert(places[at]),
        text: (_, at) => labels[at],
        fill: 'name',
        textAnchor: 'start',
        dx: 9,
        fontWeight: 600,
      }),
    ],
  });
  const description = series
    .map(
      ({ name, points: own }) =>
        `${name}: ${figure(own[0].y)} at ${tick(own[0].x)}, ${figure(own.at(-1).y)} at ${tick(own.at(-1).x)}`,
    )
    .join('; ');
  return card({ description: `${y.label} by ${x.label}. ${description}.`, plot, height: HEIGHT, ...texts });
}

const tick = (value) => (typeof value === 'number' ? figure(value, Number.isInteger(value) ? 0 : 1) : value);

function domainOf(points, type) {
  const values = points.flatMap(({ y, low = y, high = y }) => [y, low, high]);
  const max = Math.max(...values);
  if (type !== 'log') return { type: 'linear', domain: [0, max], nice: true };
  return { type: 'log', domain: [Math.min(...values), max], nice: true };
}

/** On a log scale 1, 2 and 5 of each power of ten. */
function ticksOf({ type }, { domain: [min, max] }) {
  if (type !== 'log') return 6;
  const powers = Array.from({ length: 12 }, (_, n) => 10 ** (n - 4));
  return powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((at) => at >= min && at <= max);
}

function bands(points) {
  const spread = points.filter(({ low }) => low !== undefined);
  if (spread.length === 0) return [];
  return [Plot.areaY(spread, { x: 'x', y1: 'low', y2: 'high', fill: 'name', fillOpacity: 0.15 })];
}

/** The same places, moved down where two labels would stand in one line, and up again where the last would fall off. */
function apart(places) {
  const order = places.map((place, at) => ({ place, at })).sort((a, b) => a.place - b.place || a.at - b.at);
  for (const [n, label] of order.entries()) {
    if (n > 0) label.place = Math.max(label.place, order[n - 1].place + LINE);
  }
  let lowest = HEIGHT - BOTTOM;
  for (const label of order.toReversed()) {
    label.place = Math.min(label.place, lowest);
    lowest = label.place - LINE;
  }
  return order.sort((a, b) => a.at - b.at).map(({ place }) => place);
}
