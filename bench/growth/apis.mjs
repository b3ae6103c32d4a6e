// One, two and four API processes on one Redis: what a job takes of each, and how many jobs the machine gets done.
import { cpus } from 'node:os';
import { inTurns, summary } from '../meter.mjs';
import { ADMIN_API_KEY, cpuMs, startApp } from '../processes.mjs';
import { startWorker } from '../speed/contestants.mjs';

const APIS = [1, 2, 4];

/** Clients at once of each process, each of which waits for its answer before it asks again. */
const CLIENTS = 32;

/** Jobs that warm the processes up. */
const WARMING_JOBS = 12_000;

/** Spaces that the jobs are in. */
const SPACES = Array.from({ length: 50 }, (_, n) => `apis-${n}`);

/** CPU that some processes have used, in microseconds. */
const microsOf = (processes) => processes.reduce((sum, { pid }) => sum + cpuMs(pid) * 1000, 0);

/** One turn: µs of CPU per job by kind of process, jobs per second, and cores that were busy with it. */
async function turn({ kinds, jobs, run }) {
  const before = Object.values(kinds).map(microsOf);
  const { seconds } = await run();
  const spent = Object.values(kinds).map((processes, i) => microsOf(processes) - before[i]);
  const perJob = Object.keys(kinds).map((kind, i) => [`${kind}Micros`, spent[i] / jobs]);
  const coresUsed = spent.reduce((sum, micros) => sum + micros, 0) / 1e6 / seconds;
  return { ...Object.fromEntries(perJob), coresUsed, jobsPerSecond: jobs / seconds };
}

/** A row of medians and quartiles, and of how many times as much each is as with one process. */
function rowOf(processes, turns, first) {
  const fields = Object.keys(turns[0]).flatMap((field) => {
    const { median, low, high } = summary(turns.map((each) => each[field]));
    const ratios = turns.map((each, round) => each[field] / first[round][field]);
    return [
      [field, median],
      [`${field}Low`, low],
      [`${field}High`, high],
      [`${field}TimesFirst`, summary(ratios).median],
    ];
  });
  return { apis: processes, ...Object.fromEntries(fields), cores: cpus().length };
}

/**
 * The whole life of jobs over HTTP through one, two and four API processes. All of them run all the time, and those that
 * are not asked take a thousandth of a core.
 */
export async function byApis({ url, pid }, { operations, rounds }) {
  const load = startWorker('http-load');
  const apis = [];
  for (let n = 0; n < Math.max(...APIS); n++) apis.push(await startApp('api', { REDIS_URL: url }));
  const jobs = operations * 4;
  const contestants = APIS.map((count) => {
    const some = apis.slice(0, count);
    const urls = some.map((api) => api.url);
    const to = { urls, key: ADMIN_API_KEY, clients: CLIENTS * count, spaces: SPACES };
    const run = (many = jobs) =>
      load.run({ ...to, kind: 'cycle', jobs: many, payloadBytes: 200, names: 1, filter: false });
    return [count, { jobs, run, kinds: { api: some, redis: [{ pid }], load: [load] } }];
  });
  try {
    // Before all of them have done what V8 compiles for, the one that is always asked would be ahead of the others.
    await contestants.at(-1)[1].run(WARMING_JOBS);
    const turns = await inTurns(Object.fromEntries(contestants), { rounds }, turn);
    return APIS.map((count) => rowOf(count, turns[count], turns[APIS[0]]));
  } finally {
    load.stop();
    for (const api of apis) await api.stop();
  }
}
