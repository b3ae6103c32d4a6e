// What docs/performance.md shows of `npm run bench:soak`: whether anything grows that should not.
import { COLORS } from './card.mjs';
import { conditions } from './conditions.mjs';
import { figure, megabytes, whole } from './figures.mjs';
import { lines } from './lines.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';

const PROCESSES = {
  api: { label: 'API', color: COLORS.blue },
  gateway: { label: 'gateway', color: COLORS.purple },
  scheduler: { label: 'scheduler', color: COLORS.green },
  redis: { label: 'Redis', color: COLORS.orange },
};

const process = ({ name }) => PROCESSES[name].label;

/** What happened, each with how often it should have happened where that is not plain. */
function counts({ load, kept, fsck, leftKeys }) {
  const rows = [
    ['jobs', whole(load.created)],
    ['… completed, dead, killed', [load.completed, load.dead, load.killed].map(whole).join(', ')],
    ['… lost', whole(load.lost)],
    ['calls', whole(load.calls)],
    ['… failed', whole(load.failed)],
    ['callbacks that did not come', whole(load.callbacksMissing)],
    ['streams', whole(load.streams.opened)],
    ['… whose watcher missed the end of its job', whole(load.streams.toTheEnd - load.streams.ends)],
    ['jobs kept at once, by retention', `${whole(kept.meanJobs)} of ${whole(kept.expectedJobs)} expected`],
    ['faults that fsck found', whole(fsck.faultCount)],
    ['keys left when all was purged', whole(leftKeys)],
  ];
  return markdownTable(rows, [text('', ([what]) => what), figures('', ([, count]) => count)]);
}

const memory = ({ processes }) =>
  markdownTable(processes, [
    text('resident', process),
    figures('at rest', ({ restRssBytes }) => megabytes(restRssBytes)),
    figures('under load', ({ loadRssBytes }) => megabytes(loadRssBytes)),
    figures('most', ({ mostRssBytes }) => megabytes(mostRssBytes)),
    figures('afterwards', ({ afterRssBytes }) => megabytes(afterRssBytes)),
    figures('cores under load', ({ cores }) => figure(cores, 2)),
  ]);

/** Series by the name of their field in the results: what they are called, and how their values are written. */
const SERIES = {
  rss: { label: 'resident', write: megabytes },
  liveHeap: { label: 'heap, garbage collected', write: megabytes },
  external: { label: 'buffers outside of the heap', write: megabytes },
  beside: { label: 'resident beside the heap', write: megabytes },
  used: { label: 'used memory', write: megabytes },
  fds: { label: 'open files', write: whole },
  keys: { label: 'keys', write: whole },
  clients: { label: 'connections', write: whole },
};

/** Resident memory alone is not judged: when V8 gives back what it holds is its own affair. */
const grows = ({ verdict }) => verdict.startsWith('grows');

/** The value of a series, whose name ends with its unit. */
const valueIn = (series, name) => series[`${name}Bytes`] ?? series[name];

function trends({ processes }) {
  const rows = processes.flatMap(({ name, series }) =>
    Object.entries(series).map(([field, one]) => ({ name, one, ...SERIES[field] })),
  );
  return markdownTable(rows, [
    text('process', process),
    text('', ({ label }) => label),
    ...['start', 'middle', 'end'].map((when) => figures(when, ({ one, write }) => write(valueIn(one, when)))),
    text('', ({ one }) => (grows(one) ? 'grows' : one.verdict)),
  ]);
}

/** A chart of one series of some processes; its points are at even times. */
const overTime =
  (names, { what, subtitle }) =>
  (results) => {
    const { options, load, processes } = results;
    const minutes = options.seconds / 60;
    const shown = Object.entries(names).map(([name, field]) => {
      const { [field]: one } = processes.find((each) => each.name === name).series;
      return { ...PROCESSES[name], one, values: one.valuesBytes };
    });
    const growing = shown.filter(({ one }) => grows(one)).map(({ label }) => label);
    const outcome = growing.length === 0 ? `no ${what} grows` : `growing: ${growing.join(', ')}`;
    return lines({
      title: `${whole(minutes)} minutes, ${whole(load.created)} jobs: ${outcome}`,
      subtitle,
      x: { label: 'minutes', type: 'linear' },
      y: { label: 'MB', type: 'linear' },
      dots: false,
      series: shown.map(({ label, color, values }) => ({
        name: label,
        color,
        points: values.map((bytes, at) => ({ x: ((at + 0.5) / values.length) * minutes, y: bytes / 1_048_576 })),
      })),
    });
  };

const memoryOverTime = overTime(
  { api: 'rss', gateway: 'rss', scheduler: 'rss', redis: 'used' },
  {
    what: 'process',
    subtitle: 'resident memory, and what Redis says that it uses; the lowest of each half minute',
  },
);

const heapOverTime = overTime(
  { api: 'liveHeap', gateway: 'liveHeap', scheduler: 'liveHeap' },
  { what: 'heap', subtitle: 'what is on the heap of each process once its garbage is collected' },
);

const stored = ({ memory: bytes }) =>
  markdownTable(
    [
      ['pending', bytes.pendingJobBytes],
      ['completed', bytes.completedJobBytes],
    ],
    [text('a job in Redis', ([status]) => status), figures('bytes', ([, size]) => whole(size))],
  );

export const soak = {
  tables: { 'soak-counts': counts, 'soak-memory': memory, 'soak-trends': trends, stored },
  charts: { 'soak-memory': memoryOverTime, 'soak-heap': heapOverTime },
  figures: {
    'soak-conditions': conditions,
    'soak-minutes': ({ options }) => whole(options.seconds / 60),
    'soak-rate': ({ options }) => whole(options.wantedJobsPerSecond),
    'soak-retention': ({ options }) => `${whole(options.retentionSeconds)} s`,
  },
};
