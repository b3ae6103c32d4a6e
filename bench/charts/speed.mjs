// What docs/performance.md shows of `npm run bench`: what a job and single calls cost, against others.
import { COLORS } from './card.mjs';
import { conditions } from './conditions.mjs';
import { figure, percent, ratio, spread, whole } from './figures.mjs';
import { groupedBars } from './grouped-bars.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';
import { stackedBars } from './stacked-bars.mjs';

const CONTESTANTS = {
  yardmaster: 'Yardmaster over HTTP',
  plainExpress: 'the same, plain Express',
  bullmq: 'BullMQ in process',
  bareRedis: 'bare node:http, our scripts',
  bareHttp: 'bare node:http, no Redis',
  scripts: 'our scripts, no HTTP',
};

const PROCESSES = {
  api: { name: 'API process', color: COLORS.blue },
  client: { name: 'client process', color: COLORS.purple },
  redis: { name: 'Redis', color: COLORS.orange },
  scheduler: { name: 'scheduler', color: COLORS.green },
};

/** Calls that the life of a job takes: create, poll, ack, complete. */
const CALLS_PER_JOB = 4;

const KINDS = {
  cycle: 'a job, four calls',
  create: 'create',
  emptyPoll: 'poll, empty',
  idleFleet: 'poll, empty, alone',
};

/** Those that are done as fast as may be. */
const BUSY = ['cycle', 'create', 'emptyPoll'];

/** What is measured of one kind of load, a row per contestant. */
const rowsOf = ({ sections }, kind) =>
  Object.entries(CONTESTANTS)
    .filter(([key]) => sections[kind].contestants[key])
    .map(([key, label]) => {
      const { cpuMicros, together } = sections[kind].contestants[key];
      return { kind: KINDS[kind], key, label, cpu: cpuMicros, together };
    });

const micros = (name) => figures(`${PROCESSES[name].name}, µs`, ({ cpu }) => (cpu[name] ? spread(cpu[name]) : ''));

const callsPerSecond = ({ kind, cpu }) => ((kind === KINDS.cycle ? CALLS_PER_JOB : 1) * 1e6) / cpu.api.median;

function cycle(results) {
  return markdownTable(rowsOf(results, 'cycle'), [
    text('CPU per job', ({ label }) => label),
    ...Object.keys(PROCESSES).map(micros),
    // The scheduler has its own pace: what it takes is not for the jobs that were measured.
    figures('together, µs', ({ together }) => spread(together)),
  ]);
}

/** Keys are those of the results: who is compared to whom, and in which processes. */
const RATIOS = {
  'yardmaster ÷ bullmq': ['Yardmaster over HTTP ÷ BullMQ in process', 'API and Redis ÷ client and Redis'],
  'redis: yardmaster ÷ bullmq': ['Yardmaster over HTTP ÷ BullMQ in process', 'Redis'],
  'redis: scripts ÷ bullmq': ['our scripts, no HTTP ÷ BullMQ in process', 'Redis'],
  'yardmaster ÷ plainExpress': ['Yardmaster ÷ the same, plain Express', 'API and Redis'],
  'yardmaster ÷ bareHttp': ['Yardmaster ÷ bare node:http', 'API'],
  'yardmaster ÷ bareRedis': ['Yardmaster ÷ bare node:http, our scripts', 'API and Redis'],
  'bareRedis ÷ bullmq': ['bare node:http, our scripts ÷ BullMQ in process', 'API and Redis ÷ client and Redis'],
};

function cycleRatios({ sections }) {
  const rows = Object.entries(RATIOS).map(([key, [who, processes]]) => ({
    who,
    processes,
    of: sections.cycle.ratios[key],
  }));
  return markdownTable(rows, [
    text('CPU per job', ({ who }) => who),
    text('of', ({ processes }) => processes),
    figures('', ({ of }) => ratio(of.median)),
    figures('quartiles', ({ of }) => `${figure(of.low)}–${figure(of.high)}`),
  ]);
}

function calls(results) {
  const rows = ['create', 'emptyPoll'].flatMap((kind) => rowsOf(results, kind));
  return markdownTable(rows, [
    text('CPU per call', ({ kind }) => kind),
    text('', ({ label }) => label),
    micros('api'),
    micros('redis'),
    figures('calls per API CPU second', (row) => figure(callsPerSecond(row))),
    figures('of what bare node:http answers', (row) => percent(1 / timesBare(results, rows, row))),
  ]);
}

/** How many times the CPU of the bare server's a call takes: of ours as measured round by round. */
function timesBare({ sections }, rows, { kind, key, cpu }) {
  const name = Object.keys(KINDS).find((each) => KINDS[each] === kind);
  if (key === 'yardmaster') return sections[name].ratios['yardmaster ÷ bareHttp'].median;
  return cpu.api.median / rows.find((row) => row.kind === kind && row.key === 'bareHttp').cpu.api.median;
}

function idleFleet(results) {
  return markdownTable(rowsOf(results, 'idleFleet'), [
    text('1 000 workers that poll once a second', ({ label }) => label),
    micros('api'),
    micros('redis'),
    figures('of a core, API', ({ cpu }) => percent(cpu.api.median / 1_000)),
  ]);
}

function redisShare(results) {
  const rows = BUSY.flatMap((kind) => rowsOf(results, kind).filter(({ cpu }) => cpu.redis));
  return markdownTable(rows, [
    text("Redis' share", ({ kind }) => kind),
    text('', ({ label }) => label),
    micros('redis'),
    figures('of all CPU', ({ cpu, together }) => percent(cpu.redis.median / together.median)),
  ]);
}

function jobCost(results) {
  const rows = rowsOf(results, 'cycle');
  const [ours, bullmq] = ['yardmaster', 'bullmq'].map((who) => rows.find(({ key }) => key === who).together.median);
  return stackedBars({
    title: `A job over HTTP takes ${figure(ours)} µs of CPU, in BullMQ without HTTP ${figure(bullmq)} µs`,
    subtitle: `create, poll, ack, complete; ${results.options.payload} bytes of payload; medians of ${results.options.rounds} rounds`,
    unit: 'µs of CPU per job',
    parts: Object.values(PROCESSES),
    bars: rows.map(({ label, cpu }) => ({
      label,
      values: Object.fromEntries(Object.entries(cpu).map(([name, { median }]) => [PROCESSES[name].name, median])),
    })),
  });
}

const SERVERS = { yardmaster: COLORS.blue, plainExpress: COLORS.purple, bareHttp: COLORS.grey };

function callsPerCore(results) {
  const groups = BUSY.map((kind) => rowsOf(results, kind).filter(({ key }) => SERVERS[key]));
  const perSecond = (kind) => figure(callsPerSecond(rowsOf(results, kind).find(({ key }) => key === 'yardmaster')));
  return groupedBars({
    title: `A core of the API answers ${perSecond('create')} creates or ${perSecond('emptyPoll')} empty polls a second`,
    subtitle: `calls for each second of CPU of the API process; medians of ${results.options.rounds} rounds`,
    unit: 'requests per API CPU second',
    contestants: Object.entries(SERVERS).map(([key, color]) => ({ name: CONTESTANTS[key], color })),
    groups: groups.map((rows) => ({
      label: rows[0].kind,
      values: Object.fromEntries(rows.map((row) => [row.label, callsPerSecond(row)])),
    })),
  });
}

export const speed = {
  tables: { cycle, 'cycle-ratios': cycleRatios, calls, 'redis-share': redisShare, 'idle-fleet': idleFleet },
  charts: { 'job-cost': jobCost, 'calls-per-core': callsPerCore },
  figures: {
    'speed-conditions': conditions,
    'speed-rounds': ({ options }) => whole(options.rounds),
    'speed-jobs': ({ options }) => whole(options.jobs),
    'speed-clients': ({ options }) => whole(options.clients),
    'speed-payload': ({ options }) => `${whole(options.payload)} bytes`,
  },
};
