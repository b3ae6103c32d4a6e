// The figures of append.mjs as tables.

const line = (first, columns) => `  ${first.padEnd(28)}${columns.map((text) => text.padStart(12)).join('')}`;

const runLine = ({ encoding, form, inFlight, perSecond, micros, cores }) =>
  line(`${encoding.padEnd(10)}${form.padEnd(10)}${inFlight}`, [
    perSecond.toFixed(0),
    ...['api', 'redis', 'client'].map((name) => `${micros[name].toFixed(2)}`),
    ...['api', 'redis', 'client'].map((name) => `${cores[name].toFixed(2)}`),
  ]);

const storedLine = ({ kind, messageBytes, jsonBytes, storedBytes, rawBytes }) =>
  line(kind, [
    ...[messageBytes, jsonBytes, storedBytes, rawBytes].map((bytes) => bytes.toFixed(1)),
    `× ${(storedBytes / messageBytes).toFixed(2)}`,
  ]);

/** Tables of what append.mjs has measured. */
export function appendReport({ redis, appendonly, batch, runs, stored }) {
  return [
    `Redis ${redis}, appendonly ${appendonly}, one client, batches of ${batch} entries, all jobs as full as they may be`,
    '',
    line('Appended, in flight', ['entries/s', 'API µs', 'Redis µs', 'client µs', 'API cores', 'Redis', 'client']),
    ...runs.map(runLine),
    '',
    line('Bytes per stored entry', ['message', 'JSON sent', 'in Redis', 'JSON there', '÷ message']),
    ...stored.map(storedLine),
  ].join('\n');
}
