// Have a container engine and the base images, before the tests of a suite that needs them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @returns what the script wrote to its standard error when it failed, else an empty text */
export function script(name, ...args) {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const { status, stderr } = spawnSync(path, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  return status === 0 ? '' : stderr.trim() || `${name} failed`;
}

/** Have what a script starts; where this machine cannot have it, print why tests are skipped. @returns whether it runs */
export function have(name) {
  const reason = script(name, 'up');
  if (reason !== '' && !reason.startsWith('no ')) throw new Error(reason);
  process.env.TEST_NO_ENGINE = reason;
  if (reason !== '') process.stderr.write(`Skipping the tests that run containers: ${reason}\n`);
  return reason === '';
}

export default function setUp() {
  if (!have('./engine.sh')) return;
  const failure = script('./base-images.sh');
  if (failure !== '') throw new Error(`the base images can be neither pulled nor made: ${failure}`);
}
