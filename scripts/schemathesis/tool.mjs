// Install schemathesis in a Python environment in .cache/schemathesis. This needs Python with venv. It does nothing
// when the environment exists.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const folder = fileURLToPath(new URL('../../.cache/schemathesis/', import.meta.url));
const requirements = fileURLToPath(new URL('../../test/schemathesis/requirements.txt', import.meta.url));
const stampFile = `${folder}environment/requirements.txt`;

const NEEDED = `These tests need Python 3.10 or later with venv, on Debian:
  apt-get install --no-install-recommends python3 python3-venv
and an index of Python packages for pip to install schemathesis from.
`;

/** Run a step of the installation. If it fails, exit, and print the requirements. */
function step(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  rmSync(`${folder}environment`, { recursive: true, force: true });
  process.stderr.write(`${error ? `${error.message}\n` : ''}${NEEDED}`);
  process.exit(1);
}

function isMade(wanted) {
  try {
    return readFileSync(stampFile, 'utf8') === wanted;
  } catch {
    return false;
  }
}

/** Install the packages of test/schemathesis/requirements.txt. @returns the path of the command */
export function schemathesis() {
  const wanted = readFileSync(requirements, 'utf8');
  if (!isMade(wanted)) {
    process.stdout.write('Installing schemathesis in .cache/schemathesis …\n');
    rmSync(`${folder}environment`, { recursive: true, force: true });
    step('python3', ['-m', 'venv', `${folder}environment`]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    step(`${folder}environment/bin/python`, ['-m', 'pip', 'install', ...quiet, '--requirement', requirements]);
    writeFileSync(stampFile, wanted);
  }
  return `${folder}environment/bin/schemathesis`;
}
