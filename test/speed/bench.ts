import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Run a script of bench/speed that prints JSON. It starts the compiled apps. */
export async function runBench<T>(name: string): Promise<T> {
  const script = fileURLToPath(new URL(`../../bench/speed/${name}.mjs`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  return JSON.parse(stdout);
}
