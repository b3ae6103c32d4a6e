// npm run test:mutation [-- --count 300 --seed 17 --again]: how much npm test notices. Small changes of the sources, mutants,
// are drawn; each is made alone, and the tests that reach it are run until one fails. Prints those that no test noticed.
// Verdicts are kept in .cache/mutation, so that a run that was stopped goes on; --again forgets them. Takes hours.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root, setUp } from '../../scripts/set-up.mjs';
import { instrument } from './instrument.mjs';
import { makeLane } from './lane.mjs';

const SOURCES = ['packages/store/src', 'packages/protocol/src', 'apps/gateway/src', 'apps/scheduler/src/callbacks'];
const LANES = 2;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    seed: { type: 'string', default: '17' },
    again: { type: 'boolean', default: false },
  },
});

setUp();
const listed = (...paths) => execFileSync('git', ['ls-files', ...paths], { cwd: root, encoding: 'utf8' }).split('\n');
const sources = listed(...SOURCES)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.generated.ts'))
  .map((name) => ({ name, content: readFileSync(join(root, name), 'utf8') }));
const testFiles = listed('test').filter((name) => name.endsWith('.test.ts') && !name.startsWith('test/resilience/'));

const { files, mutants, all } = await instrument(sources, Number(values.count), Number(values.seed));
const resultsFile = join(root, '.cache/mutation', `results-${values.seed}.json`);
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
const kept = !values.again && existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {};
const { reach = [], verdicts = {} } = kept.commit === commit ? kept : {};
const save = () => writeFileSync(resultsFile, JSON.stringify({ commit, reach, verdicts }, null, 1));
const say = (line) => process.stdout.write(`${line}\n`);

say(`${mutants.length} of ${all} mutants, seed ${values.seed}`);
const lanes = Array.from({ length: LANES }, (_, number) => makeLane(number + 1, files));

/** Have the lanes do each piece of work in turn. */
async function share(work, each) {
  const open = [...work];
  const drain = async (lane) => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      await each(lane, next);
      save();
    }
  };
  await Promise.all(lanes.map(drain));
}

const isKnown = new Set(reach.map(({ file }) => file));
await share(
  testFiles.filter((file) => !isKnown.has(file)),
  async (lane, file) => {
    const { output, ...found } = await lane.reach(file);
    reach.push(found);
    if (!found.isGood) say(`${file} fails without a mutant, and is left out:\n${output}`);
  },
);

/** Quick files and those that have killed before come first. */
const kills = new Map();
const score = ({ file, ms }) => ms / (1 + (kills.get(file) ?? 0));
await share(
  mutants.filter(({ key }) => verdicts[key] === undefined),
  async (lane, { id, key, line }) => {
    const reaching = reach.filter(({ ids, isGood }) => isGood && ids.includes(id));
    const order = reaching.sort((one, other) => score(one) - score(other)).map(({ file }) => file);
    const limitMs = 60_000 + 5 * reaching.reduce((sum, { ms }) => sum + ms, 0);
    const killer = order.length === 0 ? null : await lane.kill(id, order, limitMs);
    kills.set(killer, (kills.get(killer) ?? 0) + 1);
    verdicts[key] = { killer, reaching: order.length, line };
    say(`${killer === null ? 'SURVIVES' : 'killed  '} ${key.slice(0, 150).replaceAll('\n', ' ')}  ${killer ?? ''}`);
  },
);

const survivors = mutants.filter(({ key }) => verdicts[key].killer === null);
say(`\nNot noticed by any test:\n${survivors.map(({ key, line }) => `${key}\n    in: ${line}`).join('\n')}`);
say(`\n${mutants.length - survivors.length} of ${mutants.length} mutants killed`);
