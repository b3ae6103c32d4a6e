// The figures of a soak as tables.
import { machineLine } from '../machine.mjs';

const MB = 1_048_576;

/** How each series is shown: label, divisor and unit of the values, divisor and unit of the slope. */
const SHOWN = {
  rss: ['resident MB', MB, 1024, 'KB/min'],
  liveHeap: ['live heap MB', MB, 1024, 'KB/min'],
  external: ['external MB', MB, 1024, 'KB/min'],
  beside: ['beside MB', MB, 1024, 'KB/min'],
  used: ['used MB', MB, 1024, 'KB/min'],
  fds: ['open files', 1, 1, '/min'],
  keys: ['keys', 1, 1, '/min'],
  clients: ['clients', 1, 1, '/min'],
};

const withoutUnit = (series) =>
  Object.fromEntries(Object.entries(series).map(([name, value]) => [name.replace('Bytes', ''), value]));

function seriesRow(process, field, series) {
  const { start, middle, end, perMinute, standardError, verdict } = withoutUnit(series);
  const [label, divisor, slopeDivisor, unit] = SHOWN[field];
  const values = [start, middle, end].map((value) => (value / divisor).toFixed(divisor === 1 ? 0 : 1).padStart(9));
  const slope = `${(perMinute / slopeDivisor).toFixed(1)} ± ${(standardError / slopeDivisor).toFixed(1)} ${unit}`;
  const grows = verdict !== 'grows by' ? verdict : `${verdict} ${((perMinute * 60) / divisor).toFixed(1)} an hour`;
  return `  ${process.padEnd(11)}${label.padEnd(12)}${values.join('')}   ${slope.padStart(22)}   ${grows}`;
}

function memoryRow({ name, cores, restRssBytes, loadRssBytes, mostRssBytes, afterRssBytes }) {
  const megabytes = [restRssBytes, loadRssBytes, mostRssBytes, afterRssBytes].map((bytes) =>
    (bytes / MB).toFixed(0).padStart(9),
  );
  return `  ${name.padEnd(11)}${''.padEnd(12)}${megabytes.join('')}   ${cores.toFixed(2).padStart(9)}`;
}

export function soakReport({ machine, options, load, kept, fsck, leftKeys, processes, memory, isGood, faults }) {
  const { streams } = load;
  const head = (...names) => `  ${''.padEnd(23)}${names.map((name) => name.padStart(9)).join('')}`;
  return [
    machineLine(machine),
    `${options.seconds} s after a warm-up of ${options.warmUpSeconds} s: ${load.jobsPerSecond.toFixed(1)} jobs/s (wanted ${options.wantedJobsPerSecond}), ${load.callsPerSecond.toFixed(0)} calls/s; ` +
      `an ended job is kept for ${options.retentionSeconds} s`,
    `  ${load.created} jobs: ${load.completed} completed, ${load.dead} dead, ${load.killed} killed, ${load.lost} lost; ${load.failed} of ${load.calls} calls failed; ` +
      `${load.callbacksMissing} callbacks missing`,
    `  ${streams.opened} streams, ${streams.messages} messages; ${streams.ends} of ${streams.toTheEnd} watchers saw the end of their job`,
    `  ${kept.meanJobs.toFixed(0)} jobs kept, ${kept.expectedJobs.toFixed(0)} expected; fsck of ${fsck.jobs} jobs: ${fsck.faultCount} faults; ${leftKeys} keys left when all were purged`,
    '',
    'Resident memory and counts are the lowest of each window of 30 s or less; heap and external are what is left after a',
    'collection, beside is what is resident then less the size of the heap. The slope is of the second half, by least',
    'squares, ± its standard error',
    head('start', 'middle', 'end'),
    ...processes.flatMap(({ name, series }) =>
      Object.entries(series).map(([field, one]) => seriesRow(name, field, one)),
    ),
    '',
    'Memory, resident MB',
    `${head('at rest', 'load', 'most', 'after')}   ${'cores'.padStart(9)}`,
    ...processes.map(memoryRow),
    `  Redis, per job of 200 bytes of payload: ${memory.pendingJobBytes} bytes pending, ${memory.completedJobBytes} completed`,
    '',
    isGood ? 'no growth, nothing lost' : faults.join('\n'),
  ].join('\n');
}
