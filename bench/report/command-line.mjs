// The command line of all benches: options and results.
import { parseArgs } from 'node:util';
import { machineLine } from './machine.mjs';

/**
 * Read the options of a bench, including `--json`.
 *
 * @param defaults defaults by name: a number, a text, `undefined` for an optional text, or `false` for a flag
 */
export function readOptions(defaults) {
  const typeOf = (value) => ({ type: typeof value === 'boolean' ? 'boolean' : 'string' });
  const all = { ...defaults, json: false };
  const options = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, typeOf(value)]));
  const { values } = parseArgs({ options });
  const read = (name, byDefault) => {
    const value = values[name] ?? byDefault;
    return typeof byDefault === 'number' ? Number(value) : value;
  };
  return Object.fromEntries(Object.entries(all).map(([name, byDefault]) => [name, read(name, byDefault)]));
}

/** Round figures to six digits, which exceeds their precision. */
const rounded = (_, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

/** Format results as JSON, with one line per field and per row of a list. */
export function resultsJson(results) {
  const json = (value) => JSON.stringify(value, rounded);
  const fields = Object.entries(results).map(([name, value]) => {
    const isList = Array.isArray(value) && value.length > 0;
    return `  "${name}": ${isList ? `[\n${value.map((row) => `    ${json(row)}`).join(',\n')}\n  ]` : json(value)}`;
  });
  return `{\n${fields.join(',\n')}\n}\n`;
}

/**
 * Print results to standard output: as JSON, from which docs.mjs generates the page, or as the tables of the page.
 *
 * @param tables functions that create a table from the results, or null if it has no rows
 */
export function print(results, tables, asJson) {
  const shown = Object.values(tables).map((table) => table(results));
  const lines = [machineLine(results.machine), JSON.stringify(results.options), ...shown.filter(Boolean)];
  process.stdout.write(asJson ? resultsJson(results) : `${lines.join('\n\n')}\n`);
}
