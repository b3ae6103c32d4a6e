// The figures of main.mjs as tables.

const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ' ');
const spread = (row, field, digits = 1) =>
  `${row[field].toFixed(digits)} (${row[`${field}Low`].toFixed(digits)}–${row[`${field}High`].toFixed(digits)})`;
const times = (value) => `× ${value.toFixed(2)}`;

/** What each call costs, as columns with their headings. */
const COSTS = [
  ['Redis µs', (row) => spread(row, 'redisMicros')],
  ['', (row) => times(row.redisTimesFirst)],
  ['script µs', (row) => spread(row, 'scriptMicros')],
  ['', (row) => times(row.scriptTimesFirst)],
  ['client µs', (row) => spread(row, 'clientMicros')],
];

/** What each job costs over HTTP. */
const COSTS_OVER_HTTP = [
  ['API µs', (row) => spread(row, 'apiMicros', 0)],
  ['', (row) => times(row.apiMicrosTimesFirst)],
  ['Redis µs', (row) => spread(row, 'redisMicros', 0)],
  ['load µs', (row) => spread(row, 'loadMicros', 0)],
  ['jobs/s', (row) => spread(row, 'jobsPerSecond', 0)],
  ['', (row) => times(row.jobsPerSecondTimesFirst)],
  ['cores busy', (row) => `${row.coresUsed.toFixed(2)} of ${row.cores}`],
];

const count = (field) => (row) => thousands(row[field]);

/** What each section is called, the columns that tell its rows apart, and those of what they cost. */
const SECTIONS = {
  pending: {
    title: 'By the jobs that wait in the space',
    labels: [
      ['step', 'step'],
      ['pending', count('pending')],
      ['in Redis', count('jobsInRedis')],
    ],
    costs: COSTS,
  },
  list: {
    title: 'List Jobs, by the offset',
    labels: [
      ['status', 'status'],
      ['limit', 'limit'],
      ['offset', count('offset')],
      ['slow log µs', 'slowLogMicros'],
      ['most', 'slowLogMicrosMost'],
    ],
    costs: COSTS,
  },
  filter: {
    title: 'Polls where the jobs of one other name wait, by the names asked for',
    labels: [
      ['names', 'names'],
      ['of them wait', (row) => (row.haveJobs ? 'some' : 'none')],
      ['wanted', 'wanted'],
    ],
    costs: COSTS,
  },
  spaces: {
    title: 'By the spaces that the jobs are in',
    labels: [
      ['step', 'step'],
      ['spaces', count('spaces')],
      ['jobs of each', count('pendingOfEach')],
    ],
    costs: COSTS,
  },
  names: {
    title: 'By the names of the jobs in one space, each poll for one of them',
    labels: [
      ['step', 'step'],
      ['names', count('names')],
      ['jobs of each', count('pendingOfEach')],
    ],
    costs: COSTS,
  },
  apis: {
    title: 'The whole life of a job over HTTP, by the API processes',
    labels: [['processes', 'apis']],
    costs: COSTS_OVER_HTTP,
  },
};

const cell = (row, of) => (typeof of === 'string' ? String(row[of]) : of(row));

/** Lines of columns as wide as their longest cell, all but the first to the right. */
function table(columns, rows) {
  const lines = [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, of]) => cell(row, of)))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const pad = (text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]));
  return lines.map((line) => `  ${line.map(pad).join('   ')}`.trimEnd());
}

/** Tables of what main.mjs has measured. */
export function growthReport({ machine, redis, node, options, ...sections }) {
  const tables = Object.entries(sections).flatMap(([name, rows]) => {
    const { title, labels, costs } = SECTIONS[name];
    return ['', title, ...table([...labels, ...costs], rows)];
  });
  return [
    `${machine.cores} × ${machine.cpu}, Node ${node}, Redis ${redis}, appendfsync ${options.appendfsync}`,
    `µs per call: median of ${options.rounds} rounds of ${options.operations} calls (quartiles). Redis is the CPU of its process; script is the time within`,
    'the script by its own clock, which goes on while others have the processor. × is how many times as much as in the first',
    'row of the same kind, as the median of the rounds.',
    ...tables,
  ].join('\n');
}
