import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { killOnExit } from '../support/kill-on-exit.js';
import { mainOf } from '../support/process.js';
import { until } from '../support/until.js';

/** The file that runs the CLI. */
export const BIN = mainOf('cli');

/** The output of a run of the CLI so far, and how it ends. */
export interface Run {
  out: () => string;
  err: () => string;
  /** Lines of `out` without a timestamp at the start of a line, and with `T` for all other timestamps. */
  lines: () => string[];
  /** Wait until `out` contains a text. */
  shows: (text: string) => Promise<void>;
  /** Wait until the run ends and all output has arrived; return the exit code. */
  exit: () => Promise<number | null>;
  /** Wait until the run ends; return the exit code, the lines and `err`. */
  end: () => Promise<[code: number | null, lines: string[], err: string]>;
}

export interface ProcessRun extends Run {
  child: ChildProcess;
}

const running = new Set<ChildProcess>();

/** Run the CLI as a process, with only these variables; its output is a pipe. */
export function yardmaster(args: string[], env: Record<string, string> = {}): ProcessRun {
  return runCommand(process.execPath, [BIN, ...args], env);
}

/** Whether `script` can run a command on its own terminal: only that of util-linux accepts -c. */
export const hasTerminals =
  spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** Run the CLI on a terminal of 60 columns and 20 rows. */
export function yardmasterOnTerminal(args: string, env: Record<string, string>): ProcessRun {
  const command = `stty cols 60 rows 20; exec "${process.execPath}" "${BIN}" ${args}`;
  return runCommand('script', ['-qec', command, '/dev/null'], { TERM: 'xterm', ...env });
}

/** Run a program in its own process group, with only these variables and PATH; its output is a pipe. */
export function runCommand(command: string, args: string[], env: Record<string, string>): ProcessRun {
  const child = spawn(command, args, { detached: true, env: { PATH: process.env.PATH as string, ...env } });
  running.add(child);
  const forget = killOnExit({ pid: child.pid && -child.pid }); // Ctrl-C does not reach its group.
  const { write, writeErr, run } = keepOutput();
  child.stdout.setEncoding('utf8').on('data', write);
  child.stderr.setEncoding('utf8').on('data', writeErr);
  child.stdin.on('error', () => undefined); // The command may end before it has read.
  const closed = once(child, 'close').then(([code]) => {
    running.delete(child); // Another process may soon get its number.
    forget();
    return code as number | null;
  });
  return { ...run(() => closed), child };
}

/** Kill the processes that a failed test left running, with all of their children. */
export function endAll(): void {
  for (const child of running) if (isGroupAlive(child)) process.kill(-(child.pid as number), 'SIGKILL');
  running.clear();
}

/** Whether the process or one of its children is alive. */
export function isGroupAlive({ pid }: ChildProcess): boolean {
  try {
    return pid !== undefined && process.kill(-pid, 0);
  } catch {
    return false;
  }
}

/** Collect what a run writes to its two outputs. */
export function keepOutput() {
  let out = '';
  let err = '';
  const lines = () =>
    out
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'T')
      .replaceAll(/^T /gm, '')
      .split('\n')
      .filter((line, i, all) => line !== '' || i < all.length - 1);
  return {
    write(text: string) {
      out += text;
    },
    writeErr(text: string) {
      err += text;
    },
    /** @param exit resolves with the exit code */
    run: (exit: () => Promise<number | null>): Run => ({
      out: () => out,
      err: () => err,
      lines,
      shows: (text) => until(() => out.includes(text)),
      exit,
      end: async () => [await exit(), lines(), err],
    }),
  };
}
