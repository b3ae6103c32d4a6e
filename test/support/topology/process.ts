import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '../kill-on-exit.js';
import { until } from '../until.js';
import type { Command } from './compose.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Characters of output that are kept. */
const KEPT_OUTPUT = 1_000_000;

/** One of our processes, on a port that it keeps over restarts. */
export interface TopologyProcess {
  /** `api-1`, as Compose would name the container. */
  name: string;
  /** Process id of the current or last run. */
  readonly pid: number;
  /** The address without nginx, for its probes. */
  url: string;
  /** Its output so far; the latest million characters. */
  output(): string;
  /** Send SIGTERM, wait for the end, start it again and wait until it is ready. @throws when it did not exit with 0 */
  restart(): Promise<void>;
  /** Stop it by a signal (default SIGTERM), and return its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Whether `stop` was called since the last start. */
  isStopped(): boolean;
  /** Start it again after `stop`, and wait until it is ready. */
  start(): Promise<void>;
}

/** Run a command to its end, and return its output. */
export async function runToEnd({ args, env }: Command): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`ended with ${code}: ${output}`);
  return output;
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => null);
  await response?.body?.cancel();
  return response?.ok === true;
}

/** Start one process on a port, and wait until it is ready. */
export async function startProcess(name: string, port: number, { args, env }: Command): Promise<TopologyProcess> {
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess;
  let output = '';
  let isStopped = false;
  let forget = () => {};
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  async function start(): Promise<void> {
    const began = output.length;
    isStopped = false;
    // A process group of its own: Ctrl-C must reach this process first, which stops the others in order.
    child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: `${port}` },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    forget();
    forget = killOnExit(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => (output = (output + chunk).slice(-KEPT_OUTPUT)));
    await until(async () => {
      if (hasEnded()) throw new Error(`${name} ended: ${output.slice(began)}`);
      return isReady(url);
    });
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    isStopped = true;
    if (!hasEnded()) {
      const exited = once(child, 'exit');
      child.kill(signal);
      child.kill('SIGCONT'); // A test may have paused it.
      await exited;
    }
    return child.exitCode;
  }

  await start();
  return {
    name,
    url,
    get pid() {
      return child.pid as number;
    },
    output: () => output,
    isStopped: () => isStopped,
    start,
    stop,
    async restart() {
      const code = await stop();
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${output.slice(-4_000)}`);
      await start();
    },
  };
}
