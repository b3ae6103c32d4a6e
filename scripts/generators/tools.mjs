// Install the npm and Python generators in .cache/generators, unless they are already installed. Requires Python with venv.
// go-command.mjs builds oapi-codegen.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pythonCommands } from '../python.mjs';

export const folder = fileURLToPath(new URL('../../.cache/generators/', import.meta.url));
const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/** openapi-typescript needs the compiler API, which TypeScript 7 lacks. */
const NODE_PACKAGES = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];

/** Packages imported by the output of oapi-codegen. */
export const GO_MODULES = ['github.com/oapi-codegen/runtime@v1.8.0'];

/** Run a command. @returns its output @throws with its output when the command fails */
export function run(command, args, options = {}) {
  const env = { ...process.env, NO_COLOR: '1', ...options.env };
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options, env });
  if (error) throw new Error(`these tests need ${command}, which does not start: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

/** Install openapi-typescript. @returns the path of its program */
export function openapiTypescript() {
  const place = `${folder}${NODE_PACKAGES.join('-')}/`;
  const program = `${place}node_modules/openapi-typescript/bin/cli.js`;
  if (!existsSync(program)) {
    mkdirSync(place, { recursive: true });
    run('npm', ['install', '--prefix', place, '--no-package-lock', '--no-audit', '--no-fund', ...NODE_PACKAGES]);
  }
  return program;
}

/** Install openapi-python-client. @returns the folder of its commands */
export const openapiPythonClient = () => pythonCommands(`${folder}python/`, requirements);
