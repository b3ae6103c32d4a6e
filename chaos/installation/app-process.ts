import { hasEnded, type RunningProcess, runApp } from '../../test/support/process.js';
import { startProxy } from '../../test/support/redis/proxy.js';
import { until } from '../../test/support/until.js';

export interface AppOptions {
  app: 'api' | 'gateway' | 'scheduler';
  name: string; // `api-1`
  port: number;
  redisPort: number;
  redisUrl: string | undefined; // Address of Redis, to bypass the proxy. Default: the proxy.
  env: Record<string, string>;
  root: string | undefined; // Folder of another release. Default: this release.
}

/** A process of the service behind its own proxy to Redis, which can be killed and restarted. */
export type AppProcess = Awaited<ReturnType<typeof startApp>>;

export const STARTED_AGAIN = '--- started again'; // Separates the outputs of two runs.
const START_MS = 60_000;

/** Start a compiled app behind its own proxy, and wait until it accepts requests. */
export async function startApp({ app, name, port, redisPort, redisUrl, env, root }: AppOptions) {
  const proxy = await startProxy(redisPort);
  const variables = { ...env, REDIS_URL: redisUrl ?? `redis://127.0.0.1:${proxy.port}`, PORT: String(port) };
  const runs: RunningProcess[] = [];
  const latest = () => runs.at(-1) as RunningProcess;

  async function start(): Promise<void> {
    const run = runApp(app, variables, root);
    runs.push(run);
    await until(() => run.output().includes(`${app} listening`) || hasEnded(run), START_MS);
    if (hasEnded(run)) throw new Error(`${name} ended:\n${run.output()}`);
  }

  const kill = () => latest().stop('SIGKILL');
  async function stop(): Promise<void> {
    await kill();
    await proxy.stop();
  }

  await start().catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    name,
    url: `http://127.0.0.1:${port}`, // Stays the same across restarts.
    proxy,
    pid: () => latest().child.pid as number,
    kill,
    /** Send SIGTERM. @returns exit code of the process */
    terminate: () => latest().stop('SIGTERM'),
    pause: () => void latest().child.kill('SIGSTOP'),
    resume: () => void latest().child.kill('SIGCONT'),
    start, // Restart it, and wait until it accepts requests.
    /** Return its output since its first start. */
    output: () => runs.map((run) => run.output()).join(`${STARTED_AGAIN}\n`),
    stop, // Stop the process, in any state, and its proxy.
  };
}
