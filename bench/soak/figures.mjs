// The figures of a soak, from what was sampled and counted.
import { growthOf, lowest } from './growth.mjs';

/** How far the jobs that are kept may be from those expected; lives are longer while the machine is busy. */
const MOST_OFF = 0.1;

/** How long a window is of which the lowest value counts; a short run has shorter ones, of one sample if need be. */
const windowMs = (samples) => Math.min(30_000, (samples.at(-1).at - samples[0].at) / 20);

/** How a field has moved, with its unit in the names, and the points that say so. */
function seriesOf(points, unit, total) {
  const { verdict, ...numbers } = growthOf(points, total);
  const named = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name + unit, value]));
  return { ...named, verdict, [`values${unit}`]: points.map(({ value }) => value) };
}

const lowestOf = (samples, field, unit = '') => seriesOf(lowest(samples, field + unit, windowMs(samples)), unit);

/** A part of the memory of a process, as it was after each collection. */
function liveOf(lives, field, totalBytes) {
  const points = lives.map(({ at, [field]: value }) => ({ at, value }));
  return seriesOf(points, 'Bytes', totalBytes);
}

/**
 * What is looked at in each process. Its resident memory is not judged by itself: V8 makes its young generation larger by
 * megabytes when it likes. The heap is judged apart, and what is beside it: that is resident memory less the size of the
 * heap, not all of which is resident either, so it grows when both say so.
 */
function appSeries(samples, lives) {
  const rss = lowestOf(samples, 'rss', 'Bytes');
  const beside = liveOf(lives, 'besideBytes', rss.endBytes);
  return {
    rss: { ...rss, verdict: 'not judged' },
    liveHeap: liveOf(lives, 'heapBytes', rss.endBytes),
    external: liveOf(lives, 'externalBytes', rss.endBytes),
    beside: { ...beside, verdict: rss.verdict === 'grows by' ? beside.verdict : 'no growth' },
    fds: lowestOf(samples, 'fds'),
  };
}

const redisSeries = (samples) => ({
  used: lowestOf(samples, 'used', 'Bytes'),
  keys: lowestOf(samples, 'keys'),
  clients: lowestOf(samples, 'clients'),
});

/** Cores that a process has used in the second half. */
function coresOf(samples) {
  const half = samples.slice(Math.floor(samples.length / 2));
  return (half.at(-1).cpuMs - half[0].cpuMs) / (half.at(-1).at - half[0].at);
}

const meanOf = (samples, field) => samples.reduce((sum, one) => sum + one[field], 0) / samples.length;

function processOf(name, { atRest, samples, lives, after }) {
  const half = samples[name].slice(Math.floor(samples[name].length / 2));
  return {
    name,
    cores: coresOf(samples[name]),
    restRssBytes: atRest[name].rssBytes,
    loadRssBytes: meanOf(half, 'rssBytes'),
    mostRssBytes: Math.max(...samples[name].map(({ rssBytes }) => rssBytes)),
    afterRssBytes: after[name].rssBytes,
    ...(name === 'redis' ? {} : { loadHeapBytes: meanOf(half, 'heapBytes') }),
    series: name === 'redis' ? redisSeries(samples.redis) : appSeries(samples[name], lives[name]),
  };
}

/** Jobs that are kept, and how many there should be: those of as long as one lives and is retained, by Little's law. */
function keptOf({ samples, load, options }) {
  const half = samples.redis.slice(Math.floor(samples.redis.length / 2));
  // A sweep comes every half second, so a purge is a quarter of a second late.
  const staySeconds = load.meanLifeMs / 1000 + options.retentionSeconds + 0.25;
  return { meanJobs: meanOf(half, 'jobs'), expectedJobs: load.jobsPerSecond * staySeconds };
}

/** What ends a run with 1, in words. */
function faultsOf({ processes, load, kept, fsck, leftKeys }) {
  const growing = processes.flatMap(({ name, series }) =>
    Object.entries(series)
      .filter(([, { verdict }]) => verdict === 'grows by')
      .map(([field]) => `${field} of ${name} grows`),
  );
  const { streams } = load;
  return [
    ...growing,
    load.faultCount > 0 && `${load.faultCount} lives failed: ${load.firstFaults.join('; ')}`,
    load.lost > 0 && `${load.lost} jobs are not at their end`,
    load.callbacksMissing > 0 && `${load.callbacksMissing} callbacks did not come`,
    streams.faultCount > 0 && `${streams.faultCount} streams failed: ${streams.faults.join('; ')}`,
    streams.ends < streams.toTheEnd && `${streams.toTheEnd - streams.ends} watchers missed the end of their job`,
    Math.abs(kept.meanJobs / kept.expectedJobs - 1) > MOST_OFF && 'more or fewer jobs are kept than should be',
    fsck.faultCount > 0 && `fsck: ${JSON.stringify(fsck.firstFaults)}`,
    leftKeys.length > 0 && `keys are left of purged jobs: ${leftKeys.slice(0, 5).join(', ')}`,
  ].filter(Boolean);
}

/** One object: units are in the names. */
export function figuresOf({ machine, options, load, fsck, leftKeys, stored, ...sampled }) {
  const processes = ['api', 'gateway', 'scheduler', 'redis'].map((name) => processOf(name, sampled));
  const kept = keptOf({ samples: sampled.samples, load, options });
  const faults = faultsOf({ processes, load, kept, fsck, leftKeys });
  return {
    machine,
    redis: machine.redis,
    node: machine.node,
    options,
    isGood: faults.length === 0,
    faults,
    load,
    kept,
    fsck,
    leftKeys: leftKeys.length,
    processes,
    memory: { pendingJobBytes: stored.pendingBytes, completedJobBytes: stored.completedBytes },
  };
}
