// npm run test:long [-- [--at-once N] [--tenth N] [suite …]]: run the suites that npm test excludes, all by default, sequentially
// or N at once. Prints their times, and a line `N passed, N failed`. With a single suite, further arguments go to that suite:
// npm run test:long -- faults --only F1. --tenth, from 1 to 10, runs a tenth of each suite that can be divided, and skips the
// others.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { JEST, root, setUp } from './set-up.mjs';

const LANGUAGES = ['TypeScript', 'Python', 'Go'];

/** A Jest suite. A tenth is a shard of its files. */
const jest = (folder, env = {}, ...paths) => ({
  command: [...JEST, '--config', `${folder}/jest.config.mjs`, ...paths],
  env,
  isJest: true,
  tenth: (n) => ['--shard', `${n}/10`, '--passWithNoTests'],
});

/** A script that counts as one test. `tenth` returns the arguments for a tenth; without it, --tenth skips the suite. */
const script = (file, tenth) => ({ command: [file], env: {}, isJest: false, tenth });

const language = (n) => ['--language', LANGUAGES[n % 3]];

const SUITES = {
  thorough: jest('test'),
  resilience: jest('test/resilience'),
  clients: jest('test/clients'),
  pages: {
    ...jest('test/pages'),
    tenth: () => [],
    envOfTenth: (n) => ({ PAGES_TENTH: `${n}` }),
  },
  dashboard: jest('test/clients/dashboard'),
  keyboard: jest('test/clients/dashboard', { DASHBOARD_DEVICE: 'keyboard' }),
  // Building the tools would take longer than running a tenth of these.
  release: { ...jest('test/release'), tenth: undefined },
  helm: { ...jest('test/helm'), before: 'scripts/helm/tools.mjs', tenth: undefined },
  // Three commits in ten run one of its files each, because starting an engine and building the image take minutes.
  image: jest('test/image'),
  kubernetes: { ...jest('test/kubernetes'), tenth: undefined },
  'topology-single': jest('test/topology', { TEST_TOPOLOGY_REDIS: 'single' }),
  'topology-tls': jest('test/topology', { TEST_TOPOLOGY_REDIS: 'tls' }),
  'topology-sentinel': jest('test/topology', { TEST_TOPOLOGY_REDIS: 'sentinel' }),
  'topology-cluster': jest('test/topology', { TEST_TOPOLOGY_REDIS: 'cluster' }),
  orders: {
    ...jest('test/model', { MODEL_SEQUENCES: '10000' }),
    tenth: () => ['test/model/model'],
    envOfTenth: (n) => ({ MODEL_SEED: `${1_000 * n}`, MODEL_SEQUENCES: '120' }),
  },
  instructions: script('bench/instructions/main.mjs', () => []),
  mutation: script('test/mutation/main.mjs'), // A mutant that makes tests hang takes two minutes, so a tenth could take twenty.
  fuzz: script('test/fuzz/main.mjs', () => ['--short']),
  schemathesis: script('scripts/schemathesis/test.mjs', () => ['--max-examples', '25']),
  generators: script('scripts/generators/test.mjs'),
  sdk: script('scripts/sdk/test.mjs', language),
  conformance: script('scripts/sdk/conformance.mjs', (n) => ['--tenth', `${n}`]),
  // At a lower rate, because CI runs another suite at the same time.
  faults: script('chaos/main.mjs', (n) => ['--tenth', `${n}`, '--rate', '25']),
  overload: script('bench/overload/main.mjs'),
  soak: script('chaos/soak/main.mjs'),
};

const args = process.argv.slice(2);
function option(name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
}
const atOnce = Number(option('--at-once') ?? 1);
const tenth = option('--tenth');
const firstOther = args.findIndex((arg) => SUITES[arg] === undefined);
const named = firstOther < 0 ? args : args.slice(0, firstOther);
const others = args.slice(named.length);
const hasTenth = (name) => SUITES[name].tenth !== undefined;

/** Return why the arguments are invalid; null if they are valid. */
function refusal() {
  if (others.length > 0 && named.length !== 1)
    return `no such suite: ${others[0]}; there are ${Object.keys(SUITES).join(', ')}`;
  if (!(atOnce >= 1)) return '--at-once must be a number';
  if (tenth === undefined) return null;
  if (!/^([1-9]|10)$/.test(tenth)) return '--tenth must be a number from 1 to 10';
  const whole = named.filter((name) => !hasTenth(name));
  return whole.length > 0 ? `cannot run a tenth of ${whole.join(', ')}` : null;
}

const refused = refusal();
if (refused !== null) {
  process.stderr.write(`${refused}\n`);
  process.exit(2);
}

/** Read the numbers of passed and failed tests from Jest's output file. Without a file, the run has failed. */
function jestCounts(file) {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(file, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

const outcomes = `${root}.cache/outcomes/`;

async function runSuite(name) {
  const { command, isJest, before, tenth: argsOfTenth, envOfTenth } = SUITES[name];
  const env = { ...SUITES[name].env, ...(tenth !== undefined && envOfTenth?.(Number(tenth))) };
  const file = `${outcomes}${name}.json`;
  rmSync(file, { force: true });
  const whole = [
    ...command,
    ...(tenth === undefined ? [] : argsOfTenth(Number(tenth))),
    // A list of passed tests would hide the reason of a failure.
    ...(isJest ? ['--ci', '--verbose=false', '--json', `--outputFile=${file}`] : []),
    ...others,
  ];
  const began = performance.now();
  const heading = `\n== ${name}\n`;
  // The output of concurrent suites is printed when they end, so that it is not interleaved.
  const log = atOnce > 1 ? openSync(`${outcomes}${name}.txt`, 'w') : 'inherit';
  if (atOnce === 1) process.stdout.write(heading);
  const spawned = (list) =>
    once(
      spawn(process.execPath, list, { cwd: root, stdio: ['ignore', log, log], env: { ...process.env, ...env } }),
      'exit',
    );
  let [code] = before === undefined ? [0] : await spawned([before]);
  if (code === 0) [code] = await spawned(whole);
  if (atOnce > 1) {
    closeSync(log);
    process.stdout.write(heading + readFileSync(`${outcomes}${name}.txt`, 'utf8'));
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const counts = isJest ? jestCounts(file) : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
  // Count a non-zero exit as a failure, even when Jest reports no failed test.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { name, seconds, ...counts };
}

setUp();
mkdirSync(outcomes, { recursive: true });
const waiting = (named.length > 0 ? named : Object.keys(SUITES)).filter(
  (name) => tenth === undefined || hasTenth(name),
);
const rows = [];
async function runOthers() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) rows.push(await runSuite(name));
}
await Promise.all(Array.from({ length: atOnce }, runOthers));
const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
for (const { name, seconds, passed, failed } of rows)
  process.stdout.write(`${name.padEnd(20)} ${String(seconds).padStart(5)} s  ${passed} passed, ${failed} failed\n`);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exit(sum('failed') === 0 ? 0 : 1);
