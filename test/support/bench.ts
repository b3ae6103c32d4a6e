import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const pathOf = (bench: string) => fileURLToPath(new URL(`../../bench/${bench}/main.mjs`, import.meta.url));

/** Run a bench. @returns its results */
export async function runBench(bench: string, options: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [pathOf(bench), ...options.split(' '), '--json']);
  return JSON.parse(stdout);
}
