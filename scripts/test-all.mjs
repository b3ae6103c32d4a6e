// npm run test:all [-- [--short] [--at-once N] [suite …]]: run the test suites, by default all except test:soak and
// test:mutation, one after the other or N at once. It prints a table of their times, and a line `N passed, N failed`.
// --short is for CI: fewer cases of each suite, and not the suites marked isLong. Without it the model test plays 200 sequences
// per variant.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const outcomes = `${root}.cache/outcomes/`;

/** Each suite is a script of package.json. Jest suites report their test counts; any other suite counts as one test. */
const SUITES = [
  { script: 'test', isJest: true },
  { script: 'test:resilience', isJest: true },
  { script: 'test:clients', isJest: true },
  { script: 'test:dashboard', isJest: true, isLong: true },
  { script: 'test:keyboard', isJest: true },
  { script: 'test:helm', isJest: true },
  { script: 'test:image', isJest: true },
  { script: 'test:release', isJest: true },
  // CI runs only the cluster, because it differs most from the single Redis of npm test.
  { script: 'test:topology', args: ['--redis', 'cluster'], isJest: true },
  { script: 'test:topology', args: ['--redis', 'sentinel'], isJest: true, isLong: true },
  { script: 'test:topology', args: ['--redis', 'tls'], isJest: true, isLong: true },
  { script: 'test:topology', args: ['--redis', 'single'], isJest: true, isLong: true },
  { script: 'test:fuzz', short: ['--short'] },
  { script: 'test:schemathesis', short: ['--max-examples', '20'] },
  { script: 'test:generators', isLong: true },
  { script: 'test:sdk' },
  { script: 'test:conformance' },
  { script: 'test:faults' },
  { script: 'test:resends', short: ['--calls', '100'] },
  { script: 'test:stale-workers', short: ['--times', '50'] },
  { script: 'bench:instructions' },
  { script: 'check' },
];

const { values, positionals: names } = parseArgs({
  options: { short: { type: 'boolean', default: false }, 'at-once': { type: 'string', default: '1' } },
  allowPositionals: true,
});
const isShort = values.short;
const atOnce = Number(values['at-once']);
const unknown = names.filter((name) => !SUITES.some(({ script }) => script === name));
if (unknown.length > 0 || !(atOnce >= 1)) {
  process.stderr.write(unknown.length > 0 ? `no such suite: ${unknown.join(', ')}\n` : '--at-once must be a number\n');
  process.exit(2);
}

/** Read the counts of passed and failed tests from jest's output file; without a file the run has failed. */
function jestCounts(file) {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(file, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

async function runSuite({ script, args = [], short = [], isJest = false }) {
  const title = [script, ...args].join(' ');
  const name = title.replaceAll(/\W+/g, '-');
  const file = `${outcomes}${name}.json`;
  rmSync(file, { force: true });
  const all = [...args, ...(isShort ? short : []), ...(isJest ? ['--ci', '--json', `--outputFile=${file}`] : [])];
  const began = performance.now();
  const heading = `\n== npm run ${title}\n`;
  // The output of suites that run at once is printed when they end, because it would be mixed.
  const log = atOnce > 1 ? openSync(`${outcomes}${name}.txt`, 'w') : 'inherit';
  if (atOnce === 1) process.stdout.write(heading);
  const child = spawn('npm', ['run', '--silent', script, '--', ...all], {
    cwd: root,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...(isShort ? { TEST_SHORT: 'true' } : { MODEL_SEQUENCES: '200' }) },
  });
  const [code] = await once(child, 'exit');
  if (atOnce > 1) {
    closeSync(log);
    process.stdout.write(heading + readFileSync(`${outcomes}${name}.txt`, 'utf8'));
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const counts = isJest ? jestCounts(file) : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
  // Count a non-zero exit as a failure, even when Jest reports no failed test.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { suite: title, seconds, ...counts };
}

mkdirSync(outcomes, { recursive: true });
const wanted = SUITES.filter(({ script }) => names.length === 0 || names.includes(script)).filter(
  ({ isLong }) => !(isShort && isLong),
);
const leftOut = names.filter((name) => !wanted.some(({ script }) => script === name));
if (leftOut.length > 0) {
  process.stderr.write(`--short leaves out: ${leftOut.join(', ')}\n`);
  process.exit(2);
}
// The given order counts: a suite starts when one before it has ended.
if (names.length > 0) wanted.sort((a, b) => names.indexOf(a.script) - names.indexOf(b.script));
const rows = [];
async function runOthers() {
  for (let suite = wanted.shift(); suite !== undefined; suite = wanted.shift()) rows.push(await runSuite(suite));
}
await Promise.all(Array.from({ length: atOnce }, runOthers));
const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
for (const { suite, seconds, passed, failed } of rows)
  process.stdout.write(`${suite.padEnd(32)} ${String(seconds).padStart(5)} s  ${passed} passed, ${failed} failed\n`);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exit(sum('failed') === 0 ? 0 : 1);
