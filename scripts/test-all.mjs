// npm run test:all [-- [--short] [suite …]]: run the test suites one after the other, by default all except test:soak
// and test:mutation. It prints a table of their times, and a line `N passed, N failed`. --short is for CI: fewer cases
// of each suite, and of the topologies only the cluster. Without it the model test plays 200 sequences per variant.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const outcomes = `${root}.cache/outcomes/`;

/** Each suite is a script of package.json. Jest suites report their test counts; any other suite counts as one test. */
const SUITES = [
  { script: 'test', isJest: true },
  { script: 'test:resilience', isJest: true },
  { script: 'test:clients', isJest: true },
  { script: 'test:helm', isJest: true },
  { script: 'test:image', isJest: true },
  { script: 'test:release', isJest: true },
  // CI runs only the cluster, because it differs most from the single Redis of npm test.
  { script: 'test:topology', args: ['--redis', 'cluster'], isJest: true },
  { script: 'test:topology', args: ['--redis', 'sentinel'], isJest: true, isLong: true },
  { script: 'test:topology', args: ['--redis', 'tls'], isJest: true, isLong: true },
  { script: 'test:topology', args: ['--redis', 'single'], isJest: true, isLong: true },
  { script: 'test:fuzz', short: ['--short'] },
  { script: 'test:schemathesis', short: ['--max-examples', '40'] },
  { script: 'test:generators' },
  { script: 'test:sdk' },
  { script: 'test:conformance' },
  { script: 'test:faults' },
  { script: 'test:resends', short: ['--calls', '100'] },
  { script: 'test:stale-workers', short: ['--times', '50'] },
  { script: 'check' },
];

const wanted = process.argv.slice(2);
const isShort = wanted.includes('--short');
const names = wanted.filter((each) => each !== '--short');
const unknown = names.filter((name) => !SUITES.some(({ script }) => script === name));
if (unknown.length > 0) {
  process.stderr.write(`no such suite: ${unknown.join(', ')}\n`);
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

function runSuite({ script, args = [], short = [], isJest = false }) {
  const title = [script, ...args].join(' ');
  process.stdout.write(`\n== npm run ${title}\n`);
  const file = `${outcomes}${title.replaceAll(/\W+/g, '-')}.json`;
  rmSync(file, { force: true });
  const all = [...args, ...(isShort ? short : []), ...(isJest ? ['--ci', '--json', `--outputFile=${file}`] : [])];
  const began = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...all], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...(isShort ? { TEST_SHORT: 'true' } : { MODEL_SEQUENCES: '200' }) },
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  const isGood = status === 0;
  const counts = isJest ? jestCounts(file) : { passed: isGood ? 1 : 0, failed: isGood ? 0 : 1 };
  // Count a non-zero exit as a failure, even when Jest reports no failed test.
  if (!isGood && counts.failed === 0) counts.failed = 1;
  return { suite: title, seconds, ...counts };
}

mkdirSync(outcomes, { recursive: true });
const rows = SUITES.filter(({ script }) => names.length === 0 || names.includes(script))
  .filter(({ isLong }) => !(isShort && isLong))
  .map(runSuite);
const sum = (field) => rows.reduce((total, row) => total + row[field], 0);
for (const { suite, seconds, passed, failed } of rows)
  process.stdout.write(`${suite.padEnd(32)} ${String(seconds).padStart(5)} s  ${passed} passed, ${failed} failed\n`);
process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed\n`);
process.exit(sum('failed') === 0 ? 0 : 1);
