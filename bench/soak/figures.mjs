// The results of a soak, from what was sampled and counted.
import { growthOf, lowest } from './growth.mjs';

/** How far the jobs that are kept may be from those expected; lives are longer while the machine is busy. */
const MOST_OFF = 0.1;

/** How long a window is of which the lowest value counts; a short run has shorter ones, of one sample if need be. */
const windowMs = (samples) => Math.min(30_000, (samples.at(-1).at - samples[0].at) / 20);

const lowestOf = (samples, field) => growthOf(lowest(samples, field, windowMs(samples)));

const pointsOf = (lives, field) => lives.map(({ at, [field]: value }) => ({ at, value }));

/**
 * What is looked at in each process. Its resident memory is not judged by itself: V8 makes its young generation larger by
 * megabytes when it likes. The heap is judged apart, and what is beside it: that is resident memory less the size of the
 * heap, not all of which is resident either, so it grows when both say so.
 */
function appSeries(samples, lives) {
  const rss = lowestOf(samples, 'rssBytes');
  const liveOf = (field) => growthOf(pointsOf(lives, field), rss.end);
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

/** Cores that a process has used in the second half. */
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

/** Jobs that are kept, and how many there should be: those of as long as one lives and is retained, by Little's law. */
function keptOf({ samples, load, options }) {
  // A sweep comes every half second, so a purge is a quarter of a second late.
  const staySeconds = load.meanLifeMs / 1000 + options.retention + 0.25;
  return { meanJobs: meanOf(secondHalf(samples.redis), 'jobs'), expectedJobs: load.jobsPerSecond * staySeconds };
}

/** What ends a run with 1, in words. */
function faultsOf({ series, load, kept, fsck, leftKeys }) {
  const { streams } = load;
  return [
    ...series.filter(({ verdict }) => verdict === 'grows by').map(({ name, what }) => `${what} of ${name} grows`),
    load.faultCount > 0 && `${load.faultCount} lives failed: ${load.firstFaults.join('; ')}`,
    load.lost > 0 && `${load.lost} jobs are not at their end`,
    load.callbacksMissing > 0 && `${load.callbacksMissing} callbacks did not come`,
    streams.faultCount > 0 && `${streams.faultCount} streams failed: ${streams.firstFaults.join('; ')}`,
    streams.ends < streams.toTheEnd && `${streams.toTheEnd - streams.ends} watchers missed the end of their job`,
    Math.abs(kept.meanJobs / kept.expectedJobs - 1) > MOST_OFF && 'more or fewer jobs are kept than should be',
    fsck.faults.length > 0 && `fsck: ${JSON.stringify(fsck.faults.slice(0, 5))}`,
    leftKeys.length > 0 && `keys are left of purged jobs: ${leftKeys.slice(0, 5).join(', ')}`,
  ].filter(Boolean);
}

/** One object: `memory` and `series` are rows by process, `heaps` what the chart is drawn of. */
export function resultsOf({ machine, options, load, fsck, leftKeys, ...sampled }) {
  const { samples, lives } = sampled;
  const names = Object.keys(samples);
  const series = names.flatMap((name) => {
    const found = name === 'redis' ? redisSeries(samples.redis) : appSeries(samples[name], lives[name]);
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
    heaps: Object.entries(lives).map(([name, own]) => ({ name, bytes: own.map(({ heapBytes }) => heapBytes) })),
  };
}
