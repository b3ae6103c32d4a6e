// The CPU time of contestants that take turns, as rows of results.
import { inTurns, median, medianInterval, ratios, spreadOf, startMeter } from '../meter.mjs';

/** Warm-up rounds, which do not count. */
const WARMING = 2;

/** Measure one turn, without its preparation: µs of CPU time per job for each kind of process, and jobs/s. */
async function turn({ processes, prepare, run }, { lead = 0, ...load }) {
  if (lead > 0) await run({ ...load, jobs: lead });
  await prepare?.(load);
  const spent = await startMeter(processes);
  const { seconds, ...more } = await run(load);
  const cpu = Object.entries(await spent()).map(([kind, micros]) => [kind, micros / load.jobs]);
  return { cpu: Object.fromEntries(cpu), perSecond: load.jobs / seconds, ...more };
}

/** Let contestants take turns at a load. @returns turns of each, by name */
export const takeTurns = (contestants, rounds, load) =>
  inTurns(contestants, { rounds, warming: WARMING }, (contestant) => turn(contestant, load));

/** Create a function that adds up the CPU time of some kinds of process. */
const cpuOf =
  (kinds) =>
  ({ cpu }) =>
    kinds.reduce((sum, kind) => sum + (cpu[kind] ?? 0), 0);

/**
 * Create a row per contestant: medians and quartiles. The sum excludes the load generator, and the scheduler, whose CPU time does
 * not depend on the load.
 *
 * @param starts turns of each start
 */
export function cpuRows(load, starts) {
  return Object.keys(starts[0]).map((who) => {
    const own = starts.flatMap((turns) => turns[who]);
    const kinds = Object.keys(own[0].cpu).map((kind) => [kind, spreadOf(own.map(cpuOf([kind])))]);
    const together = spreadOf(own.map(cpuOf(['api', 'client', 'server', 'redis'])));
    return { load, who, ...Object.fromEntries(kinds), together, perSecond: median(own.map((one) => one.perSecond)) };
  });
}

/**
 * Create a row per comparison `[one, other, kinds of process]`: the ratio of their CPU times. Processes differ between starts, so
 * the interval over several starts is that of their median ratios.
 *
 * @param starts turns of each start
 */
export function ratioRows(load, starts, comparisons) {
  return comparisons.map(([one, other, kinds]) => {
    const ofStarts = starts.map((turns) => ratios(turns[one], turns[other], cpuOf(kinds)));
    const each = starts.length === 1 ? ofStarts[0] : ofStarts.map(median);
    const pairs = ofStarts.flat().length;
    return {
      load,
      one,
      other,
      kinds,
      ratio: spreadOf(each),
      interval: medianInterval(each),
      pairs,
      starts: starts.length,
    };
  });
}
