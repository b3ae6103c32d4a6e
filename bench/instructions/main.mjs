// npm run bench:instructions [-- --record] [--runs 1] [--json]
//
// Count the instructions that Redis takes for the scripts of each call in a job's life, and exit with 1 if a call exceeds its bound
// in bounds.json. With --record, write the bounds, which are medians of five starts of Redis. Requires valgrind, and takes a minute
// and a half per start. Other work on the machine makes it slower, but does not change the counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { createStore } from '@yardmaster/store';
import { median } from '../meter.mjs';
import { readOptions } from '../report/command-line.mjs';
import { figure, figures, markdownTable, text, whole } from '../report/tables.mjs';
import { endPeriod, readVersions, startCountingRedis, startLua } from './callgrind.mjs';
import { CALLS, prepareOthers } from './calls.mjs';

const FILE = new URL('bounds.json', import.meta.url);
const RECORD = 'npm run bench:instructions -- --record';

/** Fraction by which a call may exceed its bound. Counts of two starts of Redis differ by at most half of it, with rare exceptions. */
const TOLERANCE = 0.01;

/** Number of counted calls, and of uncounted calls before them. A call for many jobs is counted for at least that many jobs. */
const COUNTED = 100;
const WARM_UP = 5;

const { json, record, runs } = readOptions({ record: false, runs: 0 });
// One start is enough, unless a call exceeds its bound: then the median of three tells whether that start was an exception.
const least = runs || (record ? 5 : 1);
const most = runs || (record ? 5 : 3);

/** Return the number of instructions of one call. */
async function measure({ redis, count }, store, { jobs = 1, prepare = () => [], call }) {
  const [warmUp, counted] = jobs === 1 ? [WARM_UP, COUNTED] : [1, Math.ceil((4 * COUNTED) / jobs)];
  await redis.flushall();
  // Without any key that expires, Redis skips a lookup at each access to a key. Every installation has some.
  await redis.set('expires', '', 'EX', 86_400);
  const prepared = await prepare(store, (warmUp + counted) * jobs);
  await prepareOthers(store);
  await startLua(redis);
  const callNext = (n) => call(store, jobs === 1 ? prepared[n] : prepared.slice(n * jobs, (n + 1) * jobs), n);
  for (let n = 0; n < warmUp; n++) await callNext(n);
  await endPeriod(redis);
  await count();
  for (let n = warmUp; n < warmUp + counted; n++) await callNext(n);
  return (await count()) / counted;
}

/** Start a Redis and measure these calls. @returns numbers of instructions by the name of the call */
async function measureCalls(names) {
  const server = await startCountingRedis();
  // A call always has a deadline that never passes, and jitter is constant.
  const clock = { after: () => Date.now() + 3_600_000, reportTooLate: () => undefined };
  const store = createStore(server.redis, {}, { clock, random: () => 0.5 });
  try {
    const counts = {};
    for (const name of names) counts[name] = await measure(server, store, CALLS[name]);
    return counts;
  } finally {
    await server.stop();
  }
}

/** Exit, because nothing can be measured. @param why reason, and what to do about it */
function giveUp(why) {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

const versions = await readVersions();
const bounds = JSON.parse(readFileSync(FILE, 'utf8'));
if (versions.valgrind === null) giveUp('valgrind is not installed. On Debian, run: apt-get install valgrind');
if (!record && versions.redis !== bounds.redis) {
  const advice = `Record your own bounds without your change, then measure your change against them: ${RECORD}`;
  giveUp(`The bounds are for ${bounds.redis}, but this is ${versions.redis}, whose counts differ. ${advice}`);
}

const isAbove = ({ change }) => !(change <= TOLERANCE);
const names = Object.keys(CALLS);
const measured = Object.fromEntries(names.map((name) => [name, []]));
let rows = [];
for (let starts = 0; starts < most; starts++) {
  const due = starts < least ? names : rows.filter(isAbove).map(({ name }) => name);
  if (due.length === 0) break;
  for (const [name, count] of Object.entries(await measureCalls(due))) measured[name].push(count);
  rows = names.map((name) => {
    const count = Math.round(median(measured[name]));
    const bound = bounds.instructions[name];
    return { name, count, bound, change: count / bound - 1 };
  });
}

const results = { ...versions, instructions: Object.fromEntries(rows.map(({ name, count }) => [name, count])) };
const asJson = `${JSON.stringify(results, null, 2)}\n`;
const percent = (part) => `${part < 0 ? '−' : '+'}${figure(Math.abs(part) * 100, 1)}%`;
const table = markdownTable(rows, [
  text('call', ({ name }) => name),
  figures('instructions', ({ count }) => whole(count)),
  figures('bound', ({ bound }) => (bound === undefined ? '' : whole(bound))),
  figures('change', ({ change }) => (Number.isNaN(change) ? '' : percent(change))),
]);
process.stdout.write(json ? asJson : `${table}\n\n`);

if (record) {
  writeFileSync(FILE, asJson);
  process.stderr.write('The bounds are recorded. Run npm run bench:docs to update docs/performance.\n');
} else {
  const above = rows.filter(isAbove);
  const below = rows.filter(({ change }) => change < -TOLERANCE);
  const lines = [...above, ...below].map(({ name, count, bound, change }) =>
    bound === undefined
      ? `${name} has no bound.`
      : `${name} takes ${whole(count)} instructions, ${percent(change)} compared with its bound of ${whole(bound)}.`,
  );
  for (const tool of ['build', 'valgrind'])
    if (lines.length > 0 && versions[tool] !== bounds[tool])
      lines.push(`The bounds are for another ${tool}: ${bounds[tool]}, and this is ${versions[tool]}.`);
  if (below.length > 0) lines.push(`Calls have become cheaper. Record their new bounds: ${RECORD}`);
  if (above.length > 0)
    lines.push(`Some calls cost too much. Make them cheaper, or record their cost as the new bounds: ${RECORD}`);
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  process.exitCode = above.length > 0 ? 1 : 0;
}
