import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOnExit } from './kill-on-exit.js';
import { until } from './until.js';

export interface RunningProcess {
  child: ChildProcess;
  /** Everything printed so far, on stdout and stderr. */
  output: () => string;
  /** Wait until the process ends on its own. */
  ended: () => Promise<number | null>;
  /** Send a signal and wait until the process has ended. */
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** Folder of this repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Return the compiled file that runs an app, e.g. `api`.
 *
 * @param root folder of a release; default: this repository, with the bundle of the app where there is one
 */
export function mainOf(app: string, root?: string): string {
  const bundles = process.env.TEST_BUNDLES;
  if (root === undefined && bundles !== undefined) return join(bundles, `${app}.mjs`);
  return join(root ?? ROOT, 'apps', app, 'dist', 'main.js');
}

/** Start a compiled app with only these variables. */
export function runApp(app: string, env: Record<string, string | undefined>, root?: string): RunningProcess {
  const main = mainOf(app, root);
  const child = spawn(process.execPath, [main], { env: { PATH: process.env.PATH as string, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  let isClosed = false; // Set once the process has ended and all of its output has been read.
  const forget = killOnExit(child);
  child.once('close', () => {
    forget();
    isClosed = true;
  });
  async function ended() {
    await until(() => isClosed);
    return child.exitCode;
  }
  return {
    child,
    output: () => output,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await ended().catch((error) => {
        child.kill('SIGKILL');
        throw new Error(`${app} did not end on ${signal}:\n${output.slice(-4_000)}`, { cause: error });
      });
      return child.exitCode;
    },
  };
}

/** A process that serves HTTP. */
export interface RunningApp extends RunningProcess {
  /** URL of the process: `http://127.0.0.1:8080`. */
  url: string;
}

/** Return whether a process has ended, on its own or by a signal. */
export const hasEnded = ({ child }: RunningProcess) => child.exitCode !== null || child.signalCode !== null;

/**
 * Start a compiled app on a free port, and wait until it serves.
 *
 * @throws an error with the whole output if the app ends or does not serve in time
 */
export async function startApp(app: string, env: Record<string, string | undefined>): Promise<RunningApp> {
  const running = runApp(app, { PORT: '0', LOG_LEVEL: 'info', ...env });
  const address = () => /"url":"([^"]+)","msg":"\w+ listening"/.exec(running.output())?.[1];
  await until(() => address() !== undefined || hasEnded(running)).catch(() => running.stop('SIGKILL'));
  const url = address();
  if (url === undefined) throw new Error(`${app} does not serve:\n${running.output()}`);
  return { ...running, url };
}
