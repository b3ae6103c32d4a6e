// Tables of `npm run bench` for docs/performance.
import { figure, figures, markdownTable, percent, ratio, spread, text } from '../report/tables.mjs';

const CONTESTANTS = {
  yardmaster: 'Yardmaster over HTTP',
  other: 'the other checkout',
  turn: 'Yardmaster, two calls',
  batch10: 'Yardmaster, two calls for 10 jobs',
  batch50: 'Yardmaster, two calls for 50 jobs',
  withProgress: 'four calls, and progress',
  turnWithProgress: 'two calls, and progress',
  batch10WithProgress: 'two for 10, and progress for all',
  batch50WithProgress: 'two for 50, and progress for all',
  bullmqBulk: 'BullMQ in process, addBulk of 50',
  bullmq: 'BullMQ in process',
  asynq: 'Asynq in process',
  faktory: 'Faktory',
  bareRedis: 'bare node:http, our scripts',
  bareHttp: 'bare node:http, no Redis',
};

const PROCESSES = {
  api: 'API process',
  server: 'Faktory server',
  client: 'client process',
  redis: 'Redis',
  scheduler: 'scheduler',
};

const LOADS = {
  cycle: 'a job, four calls',
  create: 'create',
  emptyPoll: 'poll, empty',
  idleFleet: 'poll, idle fleet of 1,000',
  loops: 'a job',
};

const ofLoads = ({ cpu = [] }, ...loads) => cpu.filter(({ load }) => loads.includes(load));

const load = (label) => text(label, (row) => LOADS[row.load]);
const who = (label) => text(label, (row) => CONTESTANTS[row.who]);
const micros = (name) => figures(`${PROCESSES[name]}, µs`, (row) => spread(row[name]));

const cycle = (results) =>
  markdownTable(ofLoads(results, 'cycle'), [
    who('CPU per job'),
    ...Object.keys(PROCESSES).map(micros),
    // Without the scheduler, whose CPU time is not for the measured jobs.
    figures('together, µs', ({ together }) => spread(together)),
    figures('load generator, µs', ({ generator }) => spread(generator)),
  ]);

/** Name the kinds of process in a ratio: those of the one, and those of the other if they differ. */
function processesOf({ cpu }, { load: name, one, other, kinds }) {
  const [ofOne, ofOther] = [one, other].map((each) => {
    const row = cpu.find((some) => some.load === name && some.who === each);
    return kinds
      .filter((kind) => row[kind])
      .map((kind) => PROCESSES[kind].replace(' process', ''))
      .join(' and ');
  });
  return ofOne === ofOther ? ofOne : `${ofOne} ÷ ${ofOther}`;
}

const isAgainst = ({ other }) => other === 'other';

const ratioTable = (results) =>
  markdownTable(
    results.ratios?.filter((row) => !isAgainst(row)),
    [
      load('CPU'),
      text('', ({ one, other }) => `${CONTESTANTS[one]} ÷ ${CONTESTANTS[other]}`),
      text('of', (row) => processesOf(results, row)),
      figures('', (row) => ratio(row.ratio[0])),
      figures('quartiles', ({ ratio: [, low, high] }) => `${figure(low)}–${figure(high)}`),
    ],
  );

/** Create the table of --against, with enough digits for a change of a few percent. */
const against = (results) =>
  markdownTable(results.ratios?.filter(isAgainst), [
    load('this checkout ÷ the other'),
    text('of', ({ kinds }) => kinds.map((kind) => PROCESSES[kind]).join(' and ')),
    figures('median', (row) => ratio(row.ratio[0], 3)),
    figures('95% interval', ({ interval }) => interval.map((value) => figure(value, 3)).join('–')),
    figures('pairs', ({ pairs }) => String(pairs)),
    figures('starts', ({ starts }) => String(starts)),
  ]);

const callsPerSecond = ({ api: [median] }) => 1e6 / median;

function calls(results) {
  const rows = ofLoads(results, 'create', 'emptyPoll');
  const bareOf = (row) => rows.find((each) => each.load === row.load && each.who === 'bareHttp');
  const ofBare = (row) => bareOf(row) && percent(callsPerSecond(row) / callsPerSecond(bareOf(row)));
  return markdownTable(rows, [
    load('CPU per call'),
    who(''),
    micros('api'),
    micros('redis'),
    figures('calls per API CPU second', (row) => figure(callsPerSecond(row))),
    figures('share of bare node:http', (row) => ofBare(row) ?? ''),
  ]);
}

const FLEET = 1_000; // Workers.

const idleFleet = (results) =>
  markdownTable(ofLoads(results, 'idleFleet'), [
    who('1,000 workers that poll once a second'),
    micros('api'),
    micros('redis'),
    figures('API, share of a core', (row) => percent((row.api[0] * FLEET) / 1e6)),
  ]);

/** Create the table of ways to run a job: one call per step, or fewer. */
const loops = (results) =>
  markdownTable(ofLoads(results, 'loops'), [
    who('CPU per job'),
    ...['api', 'server', 'client', 'redis'].map(micros),
    figures('together, µs', ({ together }) => spread(together)),
    figures('load generator, µs', ({ generator }) => spread(generator)),
  ]);

/** Ways to run a job with Yardmaster, as named in docs/performance.md. */
const WAYS = {
  yardmaster: 'create, poll, ack and complete: four calls for a job',
  turn: 'create, then complete and poll in one call: two calls for a job',
  batch10: 'two calls for 10 jobs',
  batch50: 'two calls for 50 jobs',
};

const ways = (results) =>
  markdownTable(
    ofLoads(results, 'loops').filter((row) => row.who in WAYS),
    [
      text('calls', (row) => WAYS[row.who]),
      figures('Redis, µs per job', ({ redis: [median] }) => figure(median)),
      figures('jobs/s per Redis primary', ({ redis: [median] }) => figure(1e6 / median)),
      figures('API, µs per job', ({ api: [median] }) => figure(median)),
      figures('API processes needed', ({ api, redis }) => figure(api[0] / redis[0])),
    ],
  );

/** Create the table of ratios between whole systems. */
const compared = (results) => {
  const others = ['bullmq', 'bullmqBulk', 'faktory', 'asynq'];
  return markdownTable(
    results.ratios.filter((row) => others.includes(row.other) && row.one !== 'bareRedis' && row.kinds.length > 1),
    [
      text('CPU of a job', ({ one }) => (one === 'yardmaster' ? 'Yardmaster, four calls' : CONTESTANTS[one])),
      text('compared with', ({ other }) => CONTESTANTS[other]),
      figures('', (row) => ratio(row.ratio[0])),
    ],
  );
};

export const tables = {
  ways,
  compared,
  cycle,
  'cycle-ratios': ratioTable,
  against,
  calls,
  'idle-fleet': idleFleet,
  loops,
};
