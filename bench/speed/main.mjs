// npm run bench [-- --jobs 3000] [--clients 64] [--rounds 7] [--payload 200] [--persistence everysec|off|always] [--spaces 1]
//               [--names 1] [--apis 1] [--only cycle,cycleByFifties,create,emptyPoll,idleFleet,latency]
//               [--against folder] [--node flags] [--against-node flags] [--profile folder] [--json]
//
// What a job costs, in CPU, against others who take turns with us in one run: BullMQ in one process, a bare node:http server
// without Redis, one that does nothing but call our scripts, the same server as an Express app is usually written, and our
// scripts in pipelines without HTTP. And how long callers wait, at 200 jobs/s (npm run bench:latency has more of that).
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { latencyReport } from '../latency/report.mjs';
import { machineOf } from '../machine.mjs';
import { runScript } from '../script.mjs';
import { startContestants } from './contestants.mjs';
import { report } from './report.mjs';
import { ratioOf, summaryOf, takeTurns } from './turns.mjs';

const text = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: {
    jobs: text(3_000),
    clients: text(64),
    rounds: text(7),
    payload: text(200),
    persistence: text('everysec'),
    spaces: text(1),
    names: text(1),
    apis: text(1),
    only: text(''),
    against: { type: 'string' },
    profile: { type: 'string' },
    node: text(''),
    'against-node': text(''),
    json: { type: 'boolean' },
  },
});
const [jobs, clients, rounds, payload, spaces, names, apis] = [
  values.jobs,
  values.clients,
  values.rounds,
  values.payload,
  values.spaces,
  values.names,
  values.apis,
].map(Number);

/** What is measured: by whom, and in which processes of ours and theirs the cost is compared. */
const SECTIONS = {
  cycle: {
    who: ['yardmaster', 'plainExpress', 'bullmq', 'bareRedis', 'bareHttp', 'scripts'],
    ratios: {
      'yardmaster ÷ bullmq': [
        ['yardmaster', 'bullmq'],
        ['api', 'client', 'redis'],
      ],
      'yardmaster ÷ plainExpress': [
        ['yardmaster', 'plainExpress'],
        ['api', 'redis'],
      ],
      'yardmaster ÷ bareHttp': [['yardmaster', 'bareHttp'], ['api']],
      'yardmaster ÷ bareRedis': [
        ['yardmaster', 'bareRedis'],
        ['api', 'redis'],
      ],
      'bareRedis ÷ bullmq': [
        ['bareRedis', 'bullmq'],
        ['api', 'client', 'redis'],
      ],
      'redis: yardmaster ÷ bullmq': [['yardmaster', 'bullmq'], ['redis']],
      'redis: scripts ÷ bullmq': [['scripts', 'bullmq'], ['redis']],
    },
  },
  cycleByFifties: {
    who: ['yardmaster', 'plainExpress'],
    ratios: {
      'yardmaster ÷ plainExpress': [
        ['yardmaster', 'plainExpress'],
        ['api', 'redis'],
      ],
    },
  },
  create: {
    who: ['yardmaster', 'plainExpress', 'bareRedis', 'bareHttp'],
    ratios: { 'yardmaster ÷ bareHttp': [['yardmaster', 'bareHttp'], ['api']] },
  },
  emptyPoll: {
    who: ['yardmaster', 'plainExpress', 'bareRedis', 'bareHttp'],
    ratios: { 'yardmaster ÷ bareHttp': [['yardmaster', 'bareHttp'], ['api']] },
  },
  idleFleet: {
    who: ['yardmaster', 'plainExpress', 'bareRedis', 'bareHttp'],
    ratios: { 'yardmaster ÷ bareHttp': [['yardmaster', 'bareHttp'], ['api']] },
    // Once a second each, for some seconds: what an idle fleet of a thousand workers takes. While others have their
    // turns V8 gives up nearly all room for new objects; it has it again after as many polls as lead.
    load: { jobs: 4_000, clients: 1_000, lead: 4_000 },
  },
};

/** The same where another checkout of ours takes part, which is compared with this one and with nobody else. */
const AGAINST = {
  'yardmaster ÷ other: api': [['yardmaster', 'other'], ['api']],
  'yardmaster ÷ other: redis': [['yardmaster', 'other'], ['redis']],
  'yardmaster ÷ bareHttp': [['yardmaster', 'bareHttp'], ['api']],
};

const LATENCY = new URL('../latency/main.mjs', import.meta.url);
const only = values.only === '' ? [...Object.keys(SECTIONS), 'latency'] : values.only.split(',');
const profiling = values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : [];
const flagsOf = (line) => line.split(' ').filter(Boolean);
const flags = [...profiling, ...flagsOf(values.node)];

async function measure(kind, all) {
  const section = SECTIONS[kind];
  const who = values.against ? ['yardmaster', 'other', 'bareHttp'] : section.who;
  const ratios = values.against ? AGAINST : section.ratios;
  const contestants = Object.fromEntries(who.map((name) => [name, all[name]]));
  // A space of its own for each kind: a poll is empty where nobody creates.
  const places = Array.from({ length: spaces }, (_, n) => `${kind}-${n}`);
  // A call alone is cheap: as many calls as a cycle has.
  const count = kind === 'create' || kind === 'emptyPoll' ? jobs * 4 : jobs;
  const load = {
    kind,
    jobs: count,
    clients,
    payloadBytes: payload,
    spaces: places,
    names,
    filter: names > 1,
    ...section.load,
  };
  const turns = await takeTurns(contestants, rounds, load);
  return {
    contestants: Object.fromEntries(who.map((name) => [name, summaryOf(turns[name])])),
    ratios: Object.fromEntries(
      Object.entries(ratios).map(([name, [[one, other], processes]]) => [
        name,
        ratioOf(turns[one], turns[other], processes),
      ]),
    ),
  };
}

const { redis, contestants, stop } = await startContestants({
  persistence: values.persistence,
  payload,
  apis,
  flags,
  against: values.against && { folder: resolve(values.against), flags: flagsOf(values['against-node']) },
});
try {
  const machine = await machineOf(redis);
  const figures = {
    machine,
    redis: machine.redis,
    node: machine.node,
    options: { ...values, jobs, clients, rounds, payload, spaces, names, apis },
    sections: {},
  };
  for (const kind of only.filter((kind) => kind in SECTIONS)) figures.sections[kind] = await measure(kind, contestants);
  await stop();
  const latency = only.includes('latency') ? await runScript(LATENCY, ['--json']) : null;
  if (values.json) process.stdout.write(`${JSON.stringify({ ...figures, latency })}\n`);
  else process.stdout.write(`${report(figures)}\n${latency ? `${latencyReport(latency)}\n` : ''}`);
} finally {
  await stop();
}
