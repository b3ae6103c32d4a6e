import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface Outcome {
  status: number | null;
  output: string;
}

/** Run a command to its end. @returns its code, and what it printed on both outputs */
export function run(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Outcome {
  const env = { ...process.env, ...options.env };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', ...options, env });
  if (error) throw error;
  return { status, output: stdout + stderr };
}

/** Run a script of scripts/release. @throws with what it printed when it fails */
export function script(name: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, output } = run(process.execPath, [`${ROOT}scripts/release/${name}.mjs`, ...args], { env });
  if (status !== 0) throw new Error(output);
  return output;
}
