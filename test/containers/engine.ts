import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe } from '@jest/globals';
import { until } from '../support/until.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tests that need a container engine; set-up.mjs prints why they are skipped. */
export const withEngine: (name: string, tests: () => void) => void =
  process.env.TEST_NO_ENGINE === '' ? describe : describe.skip;

const run = promisify(execFile);

/**
 * Run a command in the repository.
 *
 * @returns what it prints, without its standard error
 * @throws with all that it printed when it fails
 */
export async function command(name: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: 64 * 1_048_576 };
  const { stdout } = await run(name, args, options).catch(({ message, stdout }) => {
    throw new Error(`${message}\n${stdout}`.trim()); // The message contains its standard error.
  });
  return stdout.trim();
}

export const docker = (...args: string[]) => command('docker', args);

/** Build the image. @returns its id */
export const buildImage = (tag: string, ...options: string[]) => docker('build', '-q', '-t', tag, ...options, '.');

/** Return the text of the first block of commands after a line of a page. */
export function commandsIn(page: string, after: string): string {
  const [, rest] = readFileSync(ROOT + page, 'utf8').split(after);
  const block = /```sh\n(.*?)```/s.exec(rest ?? '')?.[1];
  if (block === undefined) throw new Error(`${page} has no commands after "${after}"`);
  return block;
}

/** Wait until a path of a service is served with a status. A connection that the engine accepts too early is never used. */
export const untilStatus = (url: string, status: number) =>
  until(async () => (await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => null))?.status === status);
