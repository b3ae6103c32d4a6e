// What contestants who take turns cost each time, and what is made of that.
import { inTurns, summary } from '../meter.mjs';
import { cpuMs } from '../processes.mjs';

/** Rounds that warm up and are left out. */
const WARMING = 2;

/**
 * Have a contestant do a load, after a lead that is not counted; µs of CPU per job of each kind of process, and jobs
 * per second.
 */
async function turn({ processes, run }, { lead = 0, ...load }) {
  if (lead > 0) await run({ ...load, jobs: lead });
  const before = processes.map(({ pid }) => cpuMs(pid));
  const { seconds } = await run(load);
  const cpu = {};
  processes.forEach(({ name, pid }, i) => {
    cpu[name] = (cpu[name] ?? 0) + ((cpuMs(pid) - before[i]) * 1000) / load.jobs;
  });
  return { cpu, perSecond: load.jobs / seconds };
}

/**
 * Let contestants take turns at a load.
 *
 * @returns by name: each round's turn
 */
export const takeTurns = (contestants, rounds, load) =>
  inTurns(contestants, { rounds, warming: WARMING }, (contestant) => turn(contestant, load));

/** Medians and quartiles of some turns: µs of CPU per job by process and together, and jobs per second. */
export function summaryOf(turns) {
  const names = Object.keys(turns[0].cpu);
  return {
    cpuMicros: Object.fromEntries(names.map((name) => [name, summary(turns.map(({ cpu }) => cpu[name]))])),
    // What a job costs; the scheduler has its own pace, and is told apart.
    together: summary(turns.map((turn) => cpuOf(turn, ['api', 'client', 'redis']))),
    perSecond: summary(turns.map(({ perSecond }) => perSecond)),
  };
}

/** CPU of some kinds of process, together. */
export const cpuOf = ({ cpu }, names) => names.reduce((sum, name) => sum + (cpu[name] ?? 0), 0);

/** Median and quartiles of a ratio, round by round: what was busy beside them was so to both. */
export function ratioOf(turns, others, names) {
  return summary(turns.map((one, round) => cpuOf(one, names) / cpuOf(others[round], names)));
}
