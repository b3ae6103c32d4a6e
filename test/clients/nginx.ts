import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { installed } from './installed.js';

const documented = readFileSync(fileURLToPath(new URL('../../docs/nginx.conf', import.meta.url)), 'utf8');

export interface Nginx {
  /** `http://127.0.0.1:…` */
  url: string;
  /** What is in a log file: `yardmaster`, `yardmaster-streams`, or `error`, nginx' own. */
  log(name: string): Promise<string>;
  start(): Promise<void>;
  /** End it at once, with all connections; it may start again on the same port. */
  halt(): Promise<void>;
  /** End it and remove its folder. */
  stop(): Promise<void>;
}

/** Replace texts that must be there, so that no test runs with a configuration that nobody meant. */
function replaceAll(text: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`docs/nginx.conf has no: ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

/** What a distribution's nginx.conf has around the file, with every path in a folder of ours. */
const frame = (dir: string) => `
daemon off;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log;
worker_processes 1;
events {}
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path ${dir}/${it};`).join('\n  ')}
  include ${dir}/yardmaster.conf;
}
`;

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/**
 * Run nginx with docs/nginx.conf, where only addresses and paths are others.
 *
 * @param upstreams `host:port` of the API and the gateway
 * @param changes texts of the file to be replaced by others
 */
export async function startNginx(
  upstreams: { api: string; gateway: string },
  changes: Record<string, string> = {},
): Promise<Nginx> {
  const binary = installed('nginx', 'nginx-light');
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-nginx-'));
  await chmod(dir, 0o755); // Started by root, its workers are somebody else.
  const port = await freePort();
  const here = {
    'listen 80;': `listen 127.0.0.1:${port};`,
    'server 127.0.0.1:8080;': `server ${upstreams.api};`,
    'server 127.0.0.1:8081;': `server ${upstreams.gateway};`,
    '/var/log/nginx/': `${dir}/`,
  };
  await writeFile(join(dir, 'yardmaster.conf'), replaceAll(documented, { ...here, ...changes }));
  await writeFile(join(dir, 'nginx.conf'), frame(dir));

  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const started = spawn(binary, ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')]);
    child = started;
    let output = '';
    started.stderr.on('data', (chunk) => (output += chunk));
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`nginx ended: ${output}`);
      return accepts(port);
    });
  }

  async function halt(): Promise<void> {
    if (child === null || child.exitCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  async function stop(): Promise<void> {
    await halt();
    await rm(dir, { recursive: true, force: true });
  }

  await start().catch(async (error) => {
    await stop();
    throw error;
  });
  const log = (name: string) => readFile(join(dir, `${name}.log`), 'utf8');
  return { url: `http://127.0.0.1:${port}`, log, start, halt, stop };
}
