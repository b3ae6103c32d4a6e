// npm run test:long -- schemathesis [-- arguments of `schemathesis run`]: send generated calls from the OpenAPI document to an API
// process with its own Redis, and check the stored data. Every run sends the same calls, in about two minutes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pythonCommands } from '../python.mjs';
import { setUp } from '../set-up.mjs';
import '../typescript.mjs';

setUp();
const folder = fileURLToPath(new URL('../../.cache/schemathesis/', import.meta.url));
const requirements = fileURLToPath(new URL('../../test/schemathesis/requirements.txt', import.meta.url));
const command = `${pythonCommands(`${folder}environment/`, requirements)}schemathesis`;
const { startTarget } = await import('../../test/schemathesis/target.ts');
const { configOf, resultOf } = await import('../../test/schemathesis/run.ts');

/** Generated calls per operation and phase: two to three minutes in total on two cores. */
const EXAMPLES = 200;

const work = `${folder}work/`;
const reportFile = `${work}report.json`;

/** Deleted before each run, because schemathesis would start with the last failures. */
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const target = await startTarget();
let faults;
try {
  writeFileSync(`${work}schemathesis.toml`, configOf(target));
  const report = ['--report', 'json', '--report-json-path', reportFile];
  const args = ['run', `${target.url}/api/v1/openapi.json`, '--checks', 'all', '--max-examples', `${EXAMPLES}`];
  const child = spawn(command, [...args, ...report, ...process.argv.slice(2)], {
    cwd: work,
    env: {
      ...process.env,
      PYTHONPATH: fileURLToPath(new URL('../../test/schemathesis', import.meta.url)),
      PYTHONDONTWRITEBYTECODE: '1',
      DELIVERY_TOKENS: JSON.stringify(target.tokens),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
} finally {
  faults = await target.stop();
}

const { lines, isGood } = resultOf(JSON.parse(readFileSync(reportFile, 'utf8')), { faults, output: target.output() });
process.stdout.write(`\n${lines.join('\n')}\n`);
process.exit(isGood ? 0 : 1);
