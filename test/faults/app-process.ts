import { onExit } from '../support/on-exit.js';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';
import { type RedisProxy, startProxy } from './proxy.js';

/** One process of ours that can be killed and started again, behind a proxy of its own. */
export interface AppProcess {
  /** `api-1`. */
  name: string;
  /** Where it listens, the same each time. */
  url: string;
  /** Between it and Redis. */
  proxy: RedisProxy;
  readonly isRunning: boolean;
  readonly pid: number;
  /** End it with no time to say goodbye. */
  kill(): Promise<void>;
  /** SIGTERM, and wait until it has ended. @returns its exit code */
  terminate(): Promise<number | null>;
  /** SIGSTOP. */
  pause(): void;
  /** SIGCONT. */
  goOn(): void;
  /** Start it again, and wait until it serves. */
  start(): Promise<void>;
  /** All that its lives have printed. */
  output(): string;
  /** End it whatever it does, and its proxy. */
  stop(): Promise<void>;
}

export interface AppOptions {
  app: 'api' | 'gateway' | 'scheduler';
  name: string;
  port: number;
  redisPort: number;
  /** Where it finds Redis itself, past the proxy; default through it. */
  redisUrl?: string | undefined;
  env: Record<string, string>;
  /** Folder of the release that it is of; default this one. */
  root?: string | undefined;
}

const hasEnded = ({ child }: RunningProcess) => child.exitCode !== null || child.signalCode !== null;

/** Start a compiled app behind a proxy of its own, and wait until it serves. */
export async function startApp({ app, name, port, redisPort, redisUrl, env, root }: AppOptions): Promise<AppProcess> {
  const proxy = await startProxy(redisPort);
  const url = redisUrl ?? `redis://127.0.0.1:${proxy.port}`;
  const variables = { ...env, REDIS_URL: url, PORT: String(port) };
  const lives: RunningProcess[] = [];
  const latest = () => lives.at(-1) as RunningProcess;

  async function start(): Promise<void> {
    const life = runApp(app, variables, root);
    lives.push(life);
    life.child.once(
      'exit',
      onExit(() => life.child.kill('SIGKILL')),
    ); // A paused one would not hear SIGTERM.
    await until(() => life.output().includes(`${app} listening`) || hasEnded(life), 40_000);
    if (hasEnded(life)) throw new Error(`${name} ended:\n${life.output()}`);
  }

  async function kill(): Promise<void> {
    await latest().stop('SIGKILL');
  }

  try {
    await start();
  } catch (error) {
    await kill();
    await proxy.stop();
    throw error;
  }
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    proxy,
    get isRunning() {
      return !hasEnded(latest());
    },
    get pid() {
      return latest().child.pid as number;
    },
    kill,
    terminate: () => latest().stop('SIGTERM'),
    pause: () => void latest().child.kill('SIGSTOP'),
    goOn: () => void latest().child.kill('SIGCONT'),
    start,
    output: () => lives.map((life) => life.output()).join('--- started again\n'),
    async stop() {
      await kill();
      await proxy.stop();
    },
  };
}
