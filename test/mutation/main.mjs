// npm run test:mutation [-- --count 300 --seed 17 --seconds 60 --again]: how much npm test and test:resilience detect. Small
// changes to the sources, mutants, are drawn. Each is made alone, and the tests that reach it run until one fails or takes too
// long; with --seconds only those most likely to, for so long. Prints the mutants that no test detected. Commit first: tests
// are those of HEAD. Results for a seed and a commit are kept in .cache/mutation, so that a stopped run can continue, also
// with more seconds; --again discards them. Takes hours without --seconds.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, setUp } from '../../scripts/set-up.mjs';

const SOURCES = [
  'packages/redis/src',
  'packages/store/src',
  'packages/fsck/src',
  'packages/protocol/src',
  'apps/gateway/src',
  'apps/scheduler/src/callbacks',
];
const COPIES = 3; // The tests of one copy use less than one core.

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '17' },
    seconds: { type: 'string', default: 'Infinity' },
    again: { type: 'boolean', default: false },
  },
});

// A signal must also end the tests that this process runs: the `exit` event does.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
setUp();
const { isOfResilience, makeCopy } = await import('./copy.mjs');
const { instrument } = await import('./instrument.mjs');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 });
const listed = (...paths) => git('ls-tree', '-r', '--name-only', 'HEAD', ...paths).split('\n');
const sources = listed(...SOURCES)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.generated.ts'))
  .map((name) => ({ name, content: git('show', `HEAD:${name}`) }));
const testFiles = listed('test').filter((name) => /^test\/(?!house).*\.test\.ts$/.test(name));

const { files, mutants, all } = await instrument(sources, Number(values.count), Number(values.seed));
const resultsFile = join(root, '.cache/mutation', `results-${values.seed}-${values.count}.json`);
const commit = git('rev-parse', 'HEAD').trim();
const kept = !values.again && existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const { reach = [], verdicts = {} } = kept.commit === commit ? kept : {};
const save = () => writeFileSync(resultsFile, JSON.stringify({ commit, reach, verdicts }, null, 1));
const say = (line) => process.stdout.write(`${line}\n`);

say(`${mutants.length} of ${all} mutants, seed ${values.seed}`);
const copies = Array.from({ length: COPIES }, (_, number) => makeCopy(number + 1, files));

/** Distribute the work over the copies; each takes the next item when it is free. */
async function share(work, each) {
  const open = [...work];
  const drain = async (copy) => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      await each(copy, next);
      save();
    }
  };
  await Promise.all(copies.map(drain));
}

const isKnown = new Set(reach.filter(({ isGood }) => isGood).map(({ file }) => file));
await share(
  testFiles.filter((file) => !isKnown.has(file)),
  async (copy, file) => {
    const { output, ...found } = await copy.reach(file);
    reach.push(found);
    if (!found.isGood) say(`${file} fails without a mutant, and is left out:\n${output}`);
  },
);

/** Sort test files: first those that have detected mutants, above all of the same source, and then fast ones. */
const kills = new Map();
const killsOf = (what) => kills.get(what) ?? 0;
const score = ({ file, ms }, source) => ms / (1 + killsOf(file) + 20 * killsOf(`${source} ${file}`));

/** Return the first files that fit into `--seconds` together. */
function withinTime(order) {
  const within = [];
  let ms = 0;
  for (const file of order) {
    if (ms >= 1_000 * Number(values.seconds)) break;
    within.push(file);
    ms += file.ms;
  }
  return within;
}

/** Return whether a verdict does not depend on the number of seconds. */
const isSettled = (verdict) => verdict !== undefined && (verdict.killer !== null || verdict.run === verdict.reaching);

await share(
  mutants.filter(({ key }) => !isSettled(verdicts[key])),
  async (copy, { id, key, line }) => {
    const source = key.slice(0, key.indexOf(':'));
    const reaching = reach.filter(({ ids, isGood }) => isGood && ids.includes(id));
    const run = withinTime(reaching.sort((one, other) => score(one, source) - score(other, source)));
    const limitMs = 60_000 + 5 * run.reduce((sum, { ms }) => sum + ms, 0);
    let killer = null;
    for (const isNow of [(file) => !isOfResilience(file), isOfResilience]) {
      const files = run.map(({ file }) => file).filter(isNow);
      if (killer === null && files.length > 0) killer = await copy.kill(id, files, limitMs);
    }
    for (const what of [killer, `${source} ${killer}`]) kills.set(what, killsOf(what) + 1);
    verdicts[key] = { killer, reaching: reaching.length, run: run.length, line };
    const verdict = killer === null ? `SURVIVES ${run.length} of ${reaching.length} files` : 'killed  ';
    say(`${verdict} ${key.slice(0, 150).replaceAll('\n', ' ')}  ${killer ?? ''}`);
  },
);

const survivors = mutants.filter(({ key }) => verdicts[key].killer === null);
say(`\nNot detected by any test:\n${survivors.map(({ key, line }) => `${key}\n    in: ${line}`).join('\n')}`);
say(`\n${mutants.length - survivors.length} of ${mutants.length} mutants killed`);
