// npm run bench [-- --jobs 3000] [--clients 64] [--rounds 9] [--payload 200] [--persistence everysec|off|always] [--spaces 1]
//               [--names 1] [--apis 1] [--only cycle,create,emptyPoll,idleFleet,cycleByFifties,scripts] [--node flags]
//               [--against folder] [--against-node flags] [--profile folder] [--guard] [--json]
//
// What a job costs, in CPU, against others who take turns with us in one run: BullMQ in one process; a bare node:http server
// without Redis; one that only calls our scripts; our server as an Express app is usually written; our scripts in pipelines.
// --against compares with another checkout and with nothing else; --profile has our API write a CPU profile into a folder;
// --guard ends with 1 when a call takes too much of the API's CPU, against the bare server.
import { resolve } from 'node:path';
import { print, readOptions } from '../command-line.mjs';
import { machineOf } from '../machine.mjs';
import { startContestants } from './contestants.mjs';
import { cpuRows, ratioRows, scriptRows, takeTurns } from './measure.mjs';
import { tables } from './tables.mjs';

const HTTP_SERVERS = ['yardmaster', 'plainExpress', 'bareRedis', 'bareHttp'];
const AGAINST_BARE = [['yardmaster', 'bareHttp', ['api']]];

/** What is measured: who takes part; whose CPU is compared, of which processes; and what differs from the options. */
const LOADS = {
  cycle: {
    who: ['yardmaster', 'plainExpress', 'bullmq', 'bareRedis', 'bareHttp', 'scripts'],
    comparisons: [
      ['yardmaster', 'bullmq', ['api', 'client', 'redis']],
      ['yardmaster', 'bullmq', ['redis']],
      ['scripts', 'bullmq', ['redis']],
      ['yardmaster', 'plainExpress', ['api', 'redis']],
      ['yardmaster', 'bareHttp', ['api']],
      ['yardmaster', 'bareRedis', ['api', 'redis']],
      ['bareRedis', 'bullmq', ['api', 'client', 'redis']],
    ],
  },
  // A call alone is cheap: as many calls as a cycle has.
  create: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, callsPerJob: 4 },
  emptyPoll: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, callsPerJob: 4 },
  // Once a second each, for some seconds: what an idle fleet of a thousand workers takes. While others have their turns V8
  // gives up nearly all room for new objects; it has it again after as many polls as lead.
  idleFleet: { who: HTTP_SERVERS, comparisons: AGAINST_BARE, differs: { jobs: 4_000, clients: 1_000, lead: 4_000 } },
  cycleByFifties: {
    who: ['yardmaster', 'plainExpress'],
    comparisons: [['yardmaster', 'plainExpress', ['api', 'redis']]],
  },
};

/** With --against. */
const TWO = {
  who: ['yardmaster', 'other'],
  comparisons: [
    ['yardmaster', 'other', ['api']],
    ['yardmaster', 'other', ['redis']],
  ],
};

/** With --guard: how many times the bare server's CPU a call may take of the API's. Usual is 2.0 to 2.9. */
const MOST = { emptyPoll: 3.5, create: 3.7 };

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
  guard: false,
});
const { against, guard } = options;
// Fewer than 21 pairs leave too wide an interval to see 3 %.
options.rounds ||= against ? 21 : 9;

function loadsToMeasure() {
  if (options.only) return options.only.split(',');
  if (guard) return Object.keys(MOST);
  return ['cycle', 'create', 'emptyPoll', 'idleFleet', ...(against ? [] : ['scripts'])];
}
const chosen = loadsToMeasure();
const unknown = chosen.filter((name) => !(name in LOADS) && name !== 'scripts');
if (unknown.length > 0) throw new Error(`no such load: ${unknown.join(', ')}`);

function partsOf(name) {
  if (name === 'scripts') return { who: ['scripts'] };
  if (against) return { ...LOADS[name], ...TWO };
  if (guard) return { ...LOADS[name], who: ['yardmaster', 'bareHttp'], comparisons: AGAINST_BARE };
  return LOADS[name];
}

const flagsOf = (line) => line.split(' ').filter(Boolean);
const { contestants, stop } = await startContestants([...new Set(chosen.flatMap((name) => partsOf(name).who))], {
  persistence: options.persistence,
  payload: options.payload,
  apis: options.apis,
  flags: [...(options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []), ...flagsOf(options.node)],
  against: against && { folder: resolve(against), flags: flagsOf(options['against-node']) },
});

/** Measure one load, and add its rows to the results. */
async function measure(name, results) {
  const { who, comparisons, callsPerJob = 1, differs } = partsOf(name);
  // Spaces for each load: a poll is empty where nobody creates.
  const spaces = Array.from({ length: options.spaces }, (_, n) => `${name}-${n}`);
  const { clients, payload: payloadBytes, names } = options;
  const load = { kind: name, jobs: options.jobs * callsPerJob, clients, payloadBytes, spaces, names, ...differs };
  if (name === 'scripts') {
    results.scripts = await scriptRows(contestants.scripts, options.rounds, load);
    return;
  }
  const some = Object.fromEntries(who.map((each) => [each, contestants[each]]));
  const turns = await takeTurns(some, options.rounds, load);
  results.cpu.push(...cpuRows(name, turns));
  results.ratios.push(...ratioRows(name, turns, comparisons));
}

/** Say which loads take too much. */
function judge({ ratios }) {
  for (const { load, ratio } of ratios.filter(({ load, ratio: [median] }) => median > MOST[load])) {
    process.stderr.write(`${load}: ${ratio[0].toFixed(2)} times the bare server's CPU, at most ${MOST[load]}\n`);
    process.exitCode = 1;
  }
}

try {
  const redis = Object.values(contestants).flatMap(({ processes }) => processes.redis ?? [])[0];
  const results = { machine: await machineOf(redis.redis), options, cpu: [], ratios: [] };
  for (const name of chosen) await measure(name, results);
  print(results, tables, json);
  if (guard) judge(results);
} finally {
  await stop();
}
