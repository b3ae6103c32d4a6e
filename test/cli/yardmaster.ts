import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.js';

/** The command as it is installed. */
export const BIN = fileURLToPath(new URL('../../apps/cli/bin/yardmaster.mjs', import.meta.url));

export interface Run {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  /** Lines of `out`, with `T` for each timestamp. */
  lines: () => string[];
  /** Wait until some line of `out` holds a text. */
  shows: (text: string) => Promise<void>;
  /** Wait until it ends, with all that it wrote. */
  exit: () => Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** Run the command with just these variables; its output is a pipe. */
export function yardmaster(args: string[], env: Record<string, string> = {}): Run {
  return runCommand(process.execPath, [BIN, ...args], env);
}

export function runCommand(command: string, args: string[], env: Record<string, string>): Run {
  const child = spawn(command, args, { env: { PATH: process.env.PATH as string, ...env } });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  child.stdin.on('error', () => undefined); // It may end before it has read.
  const closed = once(child, 'close');
  return {
    child,
    out: () => out,
    err: () => err,
    lines: () =>
      out
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'T')
        .split('\n')
        .slice(0, -1),
    shows: (text) => until(() => out.includes(text)),
    exit: async () => (await closed)[0],
  };
}

/** End what a failed test left running. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}
