// The figures of main.mjs as tables.
import { machineLine } from '../machine.mjs';

const row = (label, columns) => `  ${label.padEnd(30)}${columns.map((text) => text.padStart(24)).join('')}`;
const spread = ({ median, low, high }, digits) =>
  `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;

function section(kind, { contestants, ratios }) {
  const names = [...new Set(Object.values(contestants).flatMap(({ cpuMicros }) => Object.keys(cpuMicros)))];
  return [
    row(kind, [...names.map((name) => `${name} µs`), 'together µs', 'per second']),
    ...Object.entries(contestants).map(([who, { cpuMicros, together, perSecond }]) => {
      const cpu = names.map((name) => (cpuMicros[name] ? spread(cpuMicros[name], 1) : ''));
      return row(who, [...cpu, spread(together, 1), spread(perSecond, 0)]);
    }),
    ...Object.entries(ratios).map(([name, ratio]) => row(name, [`× ${spread(ratio, 2)}`])),
    '',
  ];
}

/** Tables of what was measured: CPU per job (of a call alone: per call) by kind of process. */
export function report({ machine, options, sections }) {
  return [
    machineLine(machine),
    `${options.jobs} jobs of ${options.payload} bytes, ${options.clients} clients, ${options.rounds} rounds; append-only file: ${options.persistence}`,
    'CPU per job by process: median of the rounds (quartiles)',
    '',
    ...Object.entries(sections).flatMap(([kind, figures]) => section(kind, figures)),
  ].join('\n');
}
