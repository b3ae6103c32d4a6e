// What is published where. The workflow sets the variables; without them, each has the default below.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const { version, description } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** A pre-release never becomes what people get who name no version. */
export const isPreRelease = version.includes('-');

const env = (name, byDefault) => process.env[name] || byDefault;

/** Registries accept only lower case, and an owner on GitHub may have capitals. */
export const image = env('IMAGE', 'ghcr.io/yardmaster/yardmaster').toLowerCase();
/** Folder of charts in a registry, without oci://. */
export const charts = env('CHARTS', 'ghcr.io/yardmaster/charts')
  .replace(/^oci:\/\//, '')
  .toLowerCase();
/** The registry that npm is configured for, unless the variable names another one. */
export const npmRegistry = (process.env.NPM_REGISTRY || outputOf('npm', ['config', 'get', 'registry'])).replace(
  /\/$/,
  '',
);
export const repository = env('GITHUB_REPOSITORY', 'yardmaster/yardmaster');

/** Whether a registry is a local one of a rehearsal, which has no TLS. */
export const isLocal = (ref) => /^(localhost|127\.0\.0\.1):/.test(ref);

/** Run a command, showing what it prints. @throws when it fails */
export function run(command, args, options = {}) {
  process.stdout.write(`$ ${command.split('/').at(-1)} ${args.join(' ')}\n`);
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    ...options,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} failed with code ${status}`);
}

/** Run a command. @returns what it printed without the last line break, or undefined when it failed */
export function outputOf(command, args, options = {}) {
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8', ...options });
  if (error) throw error;
  return status === 0 ? stdout.trim() : undefined;
}
