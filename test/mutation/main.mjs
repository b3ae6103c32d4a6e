// npm run test:long -- mutation [--only text] [--write]: whether the tests still notice small changes to the sources.
//
// mutants.json has 296 changes, which Stryker's instrumenter 9.6.1 drew with seed 17, each with a test file that failed because of
// it, or null for a survivor. Each of the former is made alone, in a copy of HEAD, and its test file must fail again; if it does
// not, all of npm test runs until a file fails. The run fails when a mutant survives. --write tries survivors as well, which takes
// hours, records the files that failed, and leaves out changes whose source is gone.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { transformSync } from '@swc/core';
import { JEST, root } from '../../scripts/set-up.mjs';
import '../../scripts/typescript.mjs';

const { killOnExit } = await import('../support/kill-on-exit.ts');

const COPIES = 2;
const ONE_FILE_MS = 120_000; // Also ends mutants that hang or make every test wait.
const ALL_MS = 900_000;
const file = new URL('mutants.json', import.meta.url);

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, write: { type: 'boolean' } },
});
const say = (line) => process.stdout.write(`${line}\n`);
// A signal must also end the tests that this process runs: the `exit` event does.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const all = JSON.parse(readFileSync(file, 'utf8'));
const nameOf = ({ source, before, original, replacement }) =>
  `${source}: ${before.trim()}[${original} → ${replacement}]`.replaceAll(/\s+/g, ' ').slice(0, 180);
const chosen = all.filter((mutant) => nameOf(mutant).includes(values.only) && (values.write || mutant.killer !== null));

/** Make a copy of the commit at HEAD, with packages of its own, and compile it. */
function makeCopy(number) {
  const folder = join(root, '.cache/mutation', `${number}`);
  rmSync(folder, { recursive: true, force: true });
  execFileSync('git', ['clone', '--quiet', root, folder]);
  execFileSync('npm', ['run', 'build'], { cwd: folder, stdio: 'ignore' });
  return folder;
}

/** Compile a source without type checks. */
function writeSource(folder, source, text) {
  const options = { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } };
  const { code } = transformSync(text, options);
  writeFileSync(join(folder, source), text);
  writeFileSync(join(folder, source.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), code);
}

/** Run a test file, or all of npm test and `thorough`, until a test fails. @returns the file that failed, or null */
async function failure(folder, testFile) {
  const suite = testFile?.startsWith('test/resilience/') ? ['--config', 'test/resilience/jest.config.mjs'] : [];
  const paths =
    testFile === null
      ? ['--testMatch', '**/test/**/*.{test,thorough}.ts', '--testPathIgnorePatterns', 'test/(house|resilience)/']
      : ['--runTestsByPath', testFile];
  const child = spawn(process.execPath, [...JEST, ...suite, '--bail', '--forceExit', '--maxWorkers=1', ...paths], {
    cwd: folder,
    env: { ...process.env, TEST_WAIT_SECONDS: '20' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // A process group, to end all of it.
  });
  const forget = killOnExit({ pid: -child.pid });
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  const limitMs = testFile === null ? ALL_MS : ONE_FILE_MS;
  const limit = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limitMs);
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  forget();
  return code === 0 ? null : (/^FAIL (\S+)/m.exec(output)?.[1] ?? testFile ?? 'no end in time');
}

/** Make a change in a copy, and run tests. @returns 'gone', 'killed' or 'survived'; the mutant then has its killer */
async function tryMutant(folder, mutant) {
  const { source, before, original, replacement, killer } = mutant;
  const path = join(folder, source);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const parts = text.split(before + original);
  if (parts.length !== 2) return 'gone';
  writeSource(folder, source, parts.join(before + replacement));
  const isKnown = killer !== null && existsSync(join(folder, killer));
  mutant.killer = (isKnown ? await failure(folder, killer) : null) ?? (await failure(folder, null));
  writeSource(folder, source, text);
  return mutant.killer === null ? 'survived' : 'killed';
}

const waiting = [...chosen];
const lost = [];
const outcomes = { killed: 0, survived: 0, gone: 0 };

async function work(folder) {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const wasKilled = mutant.killer !== null;
    const outcome = await tryMutant(folder, mutant);
    outcomes[outcome]++;
    if (outcome === 'gone') mutant.isGone = true;
    if (outcome === 'survived' && wasKilled) lost.push(mutant);
    say(`${outcome.padEnd(8)} ${nameOf(mutant)}  ${mutant.killer ?? ''}`);
  }
}

await Promise.all(Array.from({ length: COPIES }, (_, number) => work(makeCopy(number + 1))));
if (values.write) {
  const kept = all.filter(({ isGone }) => !isGone).map((mutant) => JSON.stringify(mutant));
  writeFileSync(file, `[\n${kept.join(',\n')}\n]\n`);
}
say(`${outcomes.killed} killed, ${outcomes.survived} survived, ${outcomes.gone} are gone`);
for (const mutant of lost) say(`was killed before: ${nameOf(mutant)}`);
process.exitCode = lost.length === 0 ? 0 : 1;
