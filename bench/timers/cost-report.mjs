// The figures of cost.mjs as tables.

const row = (label, columns) => `  ${label.padEnd(38)}${columns.map((text) => text.padStart(20)).join('')}`;

/** A median, and the quartiles of the rounds. */
const micros = ({ median, low, high }) => `${median.toFixed(1)} (${low.toFixed(1)}–${high.toFixed(1)})`;

const times = (value) => `× ${value.toFixed(1)}`;

/**
 * A row per contestant, with two ratios of Redis' CPU: of what a timer costs alone, and of the whole step, of which our
 * script does the rest in any case.
 */
function section(title, { ours, timer, ...others }, labels) {
  const rest = ours.redis.median - timer.redis.median;
  const rows = Object.entries(others).map(([name, { redis, client }]) =>
    row(labels[name], [
      micros(redis),
      micros(client),
      times(redis.median / timer.redis.median),
      times((rest + redis.median) / ours.redis.median),
    ]),
  );
  return [
    row(title, ['Redis µs', 'client µs', '÷ ours, timer', '÷ ours, whole']),
    row(labels.ours, [micros(ours.redis), micros(ours.client), '', times(1)]),
    row('  of which the timer', [micros(timer.redis), '', times(1), '']),
    ...rows,
  ];
}

const HEARTBEAT = {
  ours: 'ours: keepalive, whole',
  changeDelay: 'BullMQ: changeDelay',
  removeAndAdd: 'BullMQ: remove and add',
};

const CANCELLED = {
  ours: 'ours: ack and complete, whole',
  addAndRemove: 'BullMQ: add and remove',
};

/** Tables of what cost.mjs has measured. */
export function costReport({ redis, timers, rounds, spaces, memory, ...costs }) {
  const bytes = (value) => [`${value.toFixed(0)} B`, times(value / memory.spread)];
  return [
    `Redis ${redis}, ${timers} timers outstanding, over ${spaces} spaces where CPU is measured`,
    `CPU per operation: median of ${rounds} rounds (quartiles). Ratios are of Redis' CPU: of the timer alone, and of the whole`,
    'step, of which our script does the rest in any case.',
    '',
    row('Memory per outstanding timer', ['bytes', '÷ ours']),
    row('ours, over 64 partitions', bytes(memory.spread)),
    row('ours, all in one partition', bytes(memory.onePartition)),
    row('BullMQ: delayed job', bytes(memory.bull)),
    '',
    ...section('Heartbeat, 50 at once', costs.heartbeatTogether, HEARTBEAT),
    '',
    ...section('Heartbeat, one by one', costs.heartbeatAlone, HEARTBEAT),
    '',
    ...section('Set and cancelled, 50 at once', costs.cancelled, CANCELLED),
  ].join('\n');
}
