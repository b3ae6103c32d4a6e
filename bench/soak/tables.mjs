// Tables and charts of `npm run bench:soak` for docs/performance.md.
import { COLORS, lines } from '../report/charts.mjs';
import { figure, figures, markdownTable, megabytes, text, whole } from '../report/tables.mjs';

const PROCESSES = {
  api: { label: 'API', color: COLORS.blue },
  gateway: { label: 'gateway', color: COLORS.purple },
  scheduler: { label: 'scheduler', color: COLORS.green },
  redis: { label: 'Redis' },
};

const process = ({ name }) => PROCESSES[name].label;

/** Counts, with the expected ones where they are not obvious. */
function counts({ load, kept }) {
  const rows = [
    ['jobs', whole(load.created)],
    ['… completed, dead, killed', [load.completed, load.dead, load.killed].map(whole).join(', ')],
    ['… lost', whole(load.lost)],
    ['calls', whole(load.calls)],
    ['… failed', whole(load.failed)],
    ['callbacks not received', whole(load.callbacksMissing)],
    ['streams', whole(load.streams.opened)],
    ['… whose watcher missed the end of its job', whole(load.streams.toTheEnd - load.streams.ends)],
    ['jobs kept at once, by retention', `${whole(kept.meanJobs)} of ${whole(kept.expectedJobs)} expected`],
    ['faults that fsck found', whole(kept.fsckFaults)],
    ['keys left after all jobs were purged', whole(kept.leftKeys)],
  ];
  return markdownTable(rows, [text('', ([what]) => what), figures('', ([, count]) => count)]);
}

const memory = (results) =>
  markdownTable(results.memory, [
    text('resident', process),
    figures('at rest', ({ restBytes }) => megabytes(restBytes)),
    figures('under load', ({ loadBytes }) => megabytes(loadBytes)),
    figures('most', ({ mostBytes }) => megabytes(mostBytes)),
    figures('afterwards', ({ afterBytes }) => megabytes(afterBytes)),
    figures('cores under load', ({ cores }) => figure(cores, 2)),
  ]);

/** Series by their name in the results: label, and format of the values. */
const SERIES = {
  rss: { label: 'resident', write: megabytes },
  heap: { label: 'heap, garbage collected', write: megabytes },
  external: { label: 'buffers outside of the heap', write: megabytes },
  beside: { label: 'resident beside the heap', write: megabytes },
  used: { label: 'used memory', write: megabytes },
  files: { label: 'open files', write: whole },
  keys: { label: 'keys', write: whole },
  clients: { label: 'connections', write: whole },
};

const trends = (results) =>
  markdownTable(results.series, [
    text('process', process),
    text('', ({ what }) => SERIES[what].label),
    ...['start', 'middle', 'end'].map((when) => figures(when, (row) => SERIES[row.what].write(row[when]))),
    text('', ({ verdict }) => (verdict.startsWith('grows') ? 'grows' : verdict)),
  ]);

function heaps(results) {
  const minutes = results.options.seconds / 60;
  return lines({
    title: 'Heap of each process',
    subtitle: `after garbage collection, over ${whole(minutes)} minutes of load`,
    x: { label: 'minutes', type: 'linear' },
    y: { label: 'MB', type: 'linear' },
    dots: false,
    series: results.heaps.map(({ name, bytes }) => ({
      name: PROCESSES[name].label,
      color: PROCESSES[name].color,
      points: bytes.map((value, at) => ({ x: ((at + 0.5) / bytes.length) * minutes, y: value / 1_048_576 })),
    })),
  });
}

export const tables = { 'soak-counts': counts, 'soak-memory': memory, 'soak-trends': trends };
export const charts = { 'soak-heap': heaps };
