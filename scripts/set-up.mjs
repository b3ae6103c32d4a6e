// Prepare a clone: install dependencies and build. This is quick when both are up to date.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));

/** Node.js arguments to run Jest. The first enables ES modules; the second hides the warning about it. */
export const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  `${root}node_modules/jest/bin/jest.js`,
];

const packagesIn = (lockFile) => JSON.parse(readFileSync(`${root}${lockFile}`, 'utf8')).packages;

/** Check whether npm has installed every package of the lock file. Optional packages may be for another platform. */
function isInstalled() {
  let found;
  try {
    found = packagesIn('node_modules/.package-lock.json');
  } catch {
    return false;
  }
  return Object.entries(packagesIn('package-lock.json')).every(
    ([path, { version, optional, link }]) =>
      !path.includes('node_modules/') || optional || link || found[path]?.version === version,
  );
}

/** Run a command in this clone. If it fails, exit with its code. */
export function run(command, args, options = {}) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (signal) process.kill(process.pid, signal);
  if (status !== 0) process.exit(status ?? 1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`Yardmaster needs Node.js 20.19 or later; this is ${process.versions.node}.\n`);
  process.exit(1);
}

function install() {
  if (isInstalled()) return;
  process.stdout.write('Installing dependencies …\n');
  const began = performance.now();
  // The build needs the compiler, whatever NODE_ENV is. Windows finds npm only through a shell.
  run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    shell: process.platform === 'win32',
  });
  process.stdout.write(`Dependencies installed in ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
}

/** Compile projects and their references, and bundle what they serve. Without arguments, compile everything with tests. */
export function build(...projects) {
  const tsc = (...args) => run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...args]);
  tsc('packages/protocol'); // It comes first, because the scripts contain its constants.
  run(process.execPath, ['scripts/lua/module.mjs']);
  run(process.execPath, ['scripts/sdk/heartbeat-thread.mjs']);
  tsc(...projects);
  // The API serves the dashboard. esbuild checks no types, so bundling takes no longer than detecting changes.
  if (projects.length === 0 || projects.includes('apps/standalone')) run(process.execPath, ['scripts/ui.mjs']);
}

/** Install dependencies and build, if needed. */
export function setUp(...projects) {
  checkNode();
  install();
  build(...projects);
}
