// npm run bench [-- --jobs 3000] [--clients 64] [--rounds 9] [--payload 200] [--persistence everysec|off|always] [--spaces 1]
//               [--names 1] [--apis 1] [--only cycle,loops,create,emptyPoll,idleFleet]
//               [--node flags] [--leave-out faktory,asynq] [--against folder] [--against-node flags] [--starts 1]
//               [--profile folder] [--json]
//
// Measure the CPU time of a job, and compare it with contestants that take turns: BullMQ and Asynq, each in one process; a Faktory
// server; a bare node:http server without Redis; and one that only calls the scripts. --against compares only with another
// checkout, and --starts sets how often all processes are started for that, in alternating order. --profile writes a CPU profile
// of the API to a folder.
import { resolve } from 'node:path';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { startContestants } from './contestants.mjs';
import { hasGo } from './go-contestants.mjs';
import { cpuRows, ratioRows, takeTurns } from './measure.mjs';
import { tables } from './tables.mjs';

const HTTP_SERVERS = ['yardmaster', 'bareRedis', 'bareHttp'];
const AGAINST_BARE = [['yardmaster', 'bareHttp', ['api']]];

/** Loads by name: contestants, comparisons of CPU time with their processes, and differences from the options. */
const LOADS = {
  cycle: {
    who: ['yardmaster', 'bullmq', 'faktory', 'asynq', 'bareRedis', 'bareHttp'],
    comparisons: [
      ['yardmaster', 'bullmq', ['api', 'client', 'redis']],
      ['yardmaster', 'bullmq', ['redis']],
      ['yardmaster', 'faktory', ['api', 'server', 'redis']],
      ['yardmaster', 'asynq', ['api', 'client', 'redis']],
      ['yardmaster', 'bareHttp', ['api']],
      ['yardmaster', 'bareRedis', ['api', 'redis']],
      ['bareRedis', 'bullmq', ['api', 'client', 'redis']],
    ],
  },
  /** Ways to run a job, compared with each other and with the two ways of BullMQ. */
  loops: {
    who: [
      ...['yardmaster', 'turn', 'batch10', 'batch50', 'bullmq', 'bullmqBulk', 'faktory', 'asynq'],
      ...['withProgress', 'turnWithProgress', 'batch10WithProgress', 'batch50WithProgress'],
    ],
    comparisons: [
      ['turn', 'bullmq', ['api', 'client', 'redis']],
      ['turn', 'faktory', ['api', 'server', 'redis']],
      ['turn', 'asynq', ['api', 'client', 'redis']],
      ['batch50', 'bullmqBulk', ['api', 'client', 'redis']],
      ...['turn', 'batch10', 'batch50'].flatMap((way) => [
        [way, 'yardmaster', ['api', 'redis']],
        [way, 'yardmaster', ['redis']],
      ]),
    ],
    differs: { kind: 'cycle' },
  },
  // One call is cheap, so make as many calls as in a cycle.
  create: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, callsPerJob: 4 },
  emptyPoll: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, callsPerJob: 4 },
  // The cost of a thousand idle workers that poll once a second. While others take their turns, V8 releases most memory for new
  // objects. The polls of the lead make it allocate this memory again.
  idleFleet: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, differs: { jobs: 4_000, clients: 1_000, lead: 4_000 } },
};

/** Contestants of --against. */
const TWO = {
  who: ['yardmaster', 'other'],
  comparisons: [
    ['yardmaster', 'other', ['api']],
    ['yardmaster', 'other', ['redis']],
  ],
};

const { json, ...options } = readOptions({
  jobs: 3_000,
  clients: 64,
  rounds: 0,
  payload: 200,
  persistence: 'everysec',
  spaces: 1,
  names: 1,
  apis: 1,
  only: '',
  against: undefined,
  profile: undefined,
  node: '',
  'against-node': '',
  starts: 1,
  'leave-out': '',
});
const { against } = options;
// With fewer than 21 pairs, the interval is too wide to show 3%.
options.rounds ||= against ? 21 : 9;
if (options.starts !== 1 && !(against && options.starts >= 6))
  throw new Error(
    '--starts requires --against, and must be at least 6: the median of fewer starts has no 95% interval',
  );

function loadsToMeasure() {
  if (options.only) return options.only.split(',');
  return ['cycle', 'create', 'emptyPoll', 'idleFleet', ...(against ? [] : ['loops'])];
}
const chosen = loadsToMeasure();
const unknown = chosen.filter((name) => !(name in LOADS));
if (unknown.length > 0) throw new Error(`unknown load: ${unknown.join(', ')}`);

function partsOf(name) {
  if (against) return { ...LOADS[name], ...TWO };
  const { who, comparisons, ...load } = LOADS[name];
  const isThere = (contestant) => !isLeftOut.has(contestant);
  return {
    ...load,
    who: who.filter(isThere),
    comparisons: comparisons.filter(([one, other]) => isThere(one) && isThere(other)),
  };
}

/** Contestants to leave out: those in the options, and those that cannot be built here. */
const isLeftOut = new Set(options['leave-out'].split(',').filter(Boolean));
const withoutGo = hasGo() ? [] : ['faktory', 'asynq'].filter((contestant) => !isLeftOut.has(contestant));
if (withoutGo.length > 0) {
  process.stderr.write(`Go is not installed, so these contestants are left out: ${withoutGo.join(', ')}\n`);
  for (const contestant of withoutGo) isLeftOut.add(contestant);
}

const flagsOf = (line) => line.split(' ').filter(Boolean);
const names = [...new Set(chosen.flatMap((name) => partsOf(name).who))];
const start = (inOrder) =>
  startContestants(inOrder, {
    persistence: options.persistence,
    payload: options.payload,
    apis: options.apis,
    flags: [...(options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []), ...flagsOf(options.node)],
    against: against && { folder: resolve(against), flags: flagsOf(options['against-node']) },
  });

/** Measure a load. @returns turns of each contestant, by name */
function measure(name, contestants) {
  const { who, callsPerJob = 1, differs } = partsOf(name);
  // Each load has its own spaces, because a poll must be empty where no job is created.
  const spaces = Array.from({ length: options.spaces }, (_, n) => `${name}-${n}`);
  const { clients, payload: payloadBytes, names } = options;
  const load = { kind: name, jobs: options.jobs * callsPerJob, clients, payloadBytes, spaces, names, ...differs };
  const some = Object.fromEntries(who.map((each) => [each, contestants[each]]));
  return takeTurns(some, options.rounds, load);
}

const results = { options, cpu: [], ratios: [] };
/** Turns of each start, by load. */
const measured = Object.fromEntries(chosen.map((name) => [name, []]));
for (let n = 0; n < options.starts; n++) {
  const { contestants, stop } = await start(n % 2 === 0 ? names : names.toReversed());
  try {
    const redis = Object.values(contestants).flatMap(({ processes }) => processes.redis ?? [])[0];
    results.machine ??= await machineOf(redis.redis);
    for (const name of chosen) measured[name].push(await measure(name, contestants));
  } finally {
    await stop();
  }
}
for (const [name, starts] of Object.entries(measured)) {
  results.cpu.push(...cpuRows(name, starts));
  results.ratios.push(...ratioRows(name, starts, partsOf(name).comparisons));
}
print(results, tables, json);
