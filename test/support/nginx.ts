import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { installed } from './installed.js';
import { killOnExit } from './kill-on-exit.js';
import { nginxFiles, replaceAll, type Upstreams } from './nginx-conf.js';
import { until } from './until.js';

export interface Nginx {
  /** `http://127.0.0.1:…` */
  url: string;
  /** Read a log file: `access` or `error`. */
  log(name: 'access' | 'error'): Promise<string>;
  start(): Promise<void>;
  /** Stop nginx immediately, with all connections. It can restart on the same port. */
  halt(): Promise<void>;
  /** Stop nginx and remove its folder. */
  stop(): Promise<void>;
}

export interface NginxOptions {
  /** Replacements of texts of the site. */
  changes?: Record<string, string>;
  /** The file of docs/ with the `server`. Default: nginx.conf. */
  site?: 'nginx.conf' | 'nginx-subpath.conf';
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Run nginx with a configuration of docs/, with other addresses and paths. */
export async function startNginx(upstreams: Upstreams, options: NginxOptions = {}): Promise<Nginx> {
  const { changes = {}, site = 'nginx.conf' } = options;
  const binary = installed('nginx', 'nginx-light');
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-nginx-'));
  await chmod(dir, 0o755); // If root starts nginx, its workers run as another user.
  const port = await freePort();
  const files = nginxFiles({ dir, port, upstreams, site });
  files['yardmaster.conf'] = replaceAll(files['yardmaster.conf'] as string, changes);
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);

  let child: ChildProcess | null = null;
  let forget = () => {};

  async function start(): Promise<void> {
    const args = ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')];
    // A separate process group, because Ctrl-C must first reach the process that started it.
    const started = spawn(binary, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    forget();
    forget = killOnExit(started, 'SIGTERM'); // nginx ends its workers.
    let output = '';
    started.stderr.on('data', (chunk) => (output += chunk));
    await until(async () => {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`nginx ended: ${output}`);
      return accepts(port);
    });
  }

  async function halt(): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  async function stop(): Promise<void> {
    await halt();
    forget();
    await rm(dir, { recursive: true, force: true });
  }

  await start().catch(async (error) => {
    await stop();
    throw error;
  });
  const log = (name: string) => readFile(join(dir, `${name}.log`), 'utf8');
  return { url: `http://127.0.0.1:${port}`, log, start, halt, stop };
}
