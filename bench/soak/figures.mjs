// The results of a soak, from samples and counts.
import { growthOf, lowest } from './growth.mjs';

/** How far the number of kept jobs may be from the expected one; jobs take longer while the machine is busy. */
const MOST_OFF = 0.1;

/** Length of a window of which the lowest value counts; shorter in a short run, with at least one sample. */
const windowMs = (samples) => Math.min(30_000, (samples.at(-1).at - samples[0].at) / 20);

const lowestOf = (samples, field) => growthOf(lowest(samples, field, windowMs(samples)));

const pointsOf = (collected, field) => collected.map(({ at, [field]: value }) => ({ at, value }));

/**
 * Judge the series of a process. Resident memory is not judged alone, because V8 may enlarge its young generation by megabytes
 * at any time. The heap is judged, and the memory beside it: resident memory minus the size of the heap. Because not all of the
 * heap is resident, the memory beside it grows only if resident memory grows too.
 */
function appSeries(samples, collected) {
  const rss = lowestOf(samples, 'rssBytes');
  const liveOf = (field) => growthOf(pointsOf(collected, field), rss.end);
  const beside = liveOf('besideBytes');
  return {
    rss: { ...rss, verdict: 'not judged' },
    heap: liveOf('heapBytes'),
    external: liveOf('externalBytes'),
    beside: { ...beside, verdict: rss.verdict === 'grows by' ? beside.verdict : 'no growth' },
    files: lowestOf(samples, 'fds'),
  };
}

const redisSeries = (samples) => ({
  used: lowestOf(samples, 'usedBytes'),
  keys: lowestOf(samples, 'keys'),
  clients: lowestOf(samples, 'clients'),
});

const secondHalf = (samples) => samples.slice(Math.floor(samples.length / 2));

/** Return the cores that a process has used in the second half. */
function coresOf(samples) {
  const half = secondHalf(samples);
  return (half.at(-1).cpuMicros - half[0].cpuMicros) / 1_000 / (half.at(-1).at - half[0].at);
}

const meanOf = (samples, field) => samples.reduce((sum, one) => sum + one[field], 0) / samples.length;

const memoryOf = (name, { atRest, samples, after }) => ({
  name,
  restBytes: atRest[name].rssBytes,
  loadBytes: Math.round(meanOf(secondHalf(samples[name]), 'rssBytes')),
  mostBytes: Math.max(...samples[name].map(({ rssBytes }) => rssBytes)),
  afterBytes: after[name].rssBytes,
  cores: coresOf(samples[name]),
});

/** Count the kept jobs, and the expected ones by Little's law: rate × (time to the end + retention). */
function keptOf({ samples, load, options }) {
  // A sweep is made every half second, so a purge is a quarter of a second late on average.
  const staySeconds = load.meanLifeMs / 1000 + options.retention + 0.25;
  return { meanJobs: meanOf(secondHalf(samples.redis), 'jobs'), expectedJobs: load.jobsPerSecond * staySeconds };
}

/** List the faults of a run, which then exits with 1. */
function faultsOf({ series, load, kept, fsck, leftKeys }) {
  const { streams } = load;
  return [
    ...series.filter(({ verdict }) => verdict === 'grows by').map(({ name, what }) => `${what} of ${name} grows`),
    load.faultCount > 0 && `${load.faultCount} jobs failed: ${load.firstFaults.join('; ')}`,
    load.lost > 0 && `${load.lost} jobs are not at their end`,
    load.callbacksMissing > 0 && `${load.callbacksMissing} callbacks were not received`,
    streams.faultCount > 0 && `${streams.faultCount} streams failed: ${streams.firstFaults.join('; ')}`,
    streams.ends < streams.toTheEnd && `${streams.toTheEnd - streams.ends} watchers missed the end of their job`,
    Math.abs(kept.meanJobs / kept.expectedJobs - 1) > MOST_OFF && 'more or fewer jobs are kept than should be',
    fsck.faults.length > 0 && `fsck: ${JSON.stringify(fsck.faults.slice(0, 5))}`,
    leftKeys.length > 0 && `keys are left of purged jobs: ${leftKeys.slice(0, 5).join(', ')}`,
  ].filter(Boolean);
}

/** Make the results: `memory` and `series` are rows by process, `heaps` the data of the chart. */
export function resultsOf({ machine, options, load, fsck, leftKeys, ...sampled }) {
  const { samples, collected } = sampled;
  const names = Object.keys(samples);
  const series = names.flatMap((name) => {
    const found = name === 'redis' ? redisSeries(samples.redis) : appSeries(samples[name], collected[name]);
    return Object.entries(found).map(([what, growth]) => ({ name, what, ...growth }));
  });
  const kept = keptOf({ samples, load, options });
  return {
    machine,
    options,
    faults: faultsOf({ series, load, kept, fsck, leftKeys }),
    load,
    kept: { ...kept, fsckFaults: fsck.faults.length, leftKeys: leftKeys.length },
    memory: names.map((name) => memoryOf(name, sampled)),
    series,
    heaps: Object.entries(collected).map(([name, own]) => ({ name, bytes: own.map(({ heapBytes }) => heapBytes) })),
  };
}
