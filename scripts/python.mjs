// Install Python packages in virtual environments. Requires Python with venv.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const NEEDED = `These tests need Python 3.10 or later with venv. On Debian:
  apt-get install --no-install-recommends python3 python3-venv
They also need a package index for pip.
`;

/**
 * Install the packages of a requirements file in a folder, unless they are already installed.
 *
 * @returns folder with their commands
 */
export function pythonCommands(folder, requirements) {
  const stampFile = `${folder}requirements.txt`;
  const wanted = readFileSync(requirements, 'utf8');
  if (!isMade(stampFile, wanted)) {
    process.stderr.write(`Installing Python packages in ${folder} …\n`);
    rmSync(folder, { recursive: true, force: true });
    step(folder, 'python3', ['-m', 'venv', folder]);
    const quiet = ['--quiet', '--disable-pip-version-check'];
    step(folder, `${folder}bin/python`, ['-m', 'pip', 'install', ...quiet, '--requirement', requirements]);
    writeFileSync(stampFile, wanted);
  }
  return `${folder}bin/`;
}

function isMade(stampFile, wanted) {
  try {
    return readFileSync(stampFile, 'utf8') === wanted;
  } catch {
    return false;
  }
}

/** Run a step of the installation. If it fails, print the requirements and exit. */
function step(folder, command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write(`${error ? `${error.message}\n` : ''}${NEEDED}`);
  process.exit(1);
}
