// Contestants written in Go: Faktory and Asynq. They are built from bench/speed/go; without Go, they are left out.
import { execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findRedisServer } from '@yardmaster/redis';
import { freePort } from '../free-port.mjs';
import { cpuMicrosOf, killOnExit, until } from '../processes.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const BINARIES = path('../../.cache/bench-go');

/** Check whether Go is installed, to build them. */
export function hasGo() {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Build a package of bench/speed/go, and return the path of the program. */
export function build(name, from = `./${name}`) {
  const program = join(BINARIES, name);
  execFileSync('go', ['build', '-o', program, from], { cwd: path('go'), stdio: ['ignore', 'inherit', 'inherit'] });
  return program;
}

/** Start a program, which ends with this process. */
export function start(program, args, env) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: process.env.PATH, ...env } });
  killOnExit(child);
  return {
    child,
    pid: child.pid,
    cpuMicros: async () => cpuMicrosOf(child.pid),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Start a program that generates the load given by each line that it reads; see go/turns. */
export function startTurns(name, env) {
  const program = start(build(name), [], env);
  const results = new EventEmitter();
  const lines = createInterface({ input: program.child.stdout });
  // The Faktory client also writes its log there.
  lines.on('line', (line) => line.startsWith('{') && results.emit('result', line));
  program.child.once('exit', () => results.emit('error', new Error(`${name} has ended`)));
  results.on('error', () => undefined); // The benchmark stops it between two runs.
  return {
    ...program,
    async run({ jobs, clients, payloadBytes }) {
      program.child.stdin.write(`${JSON.stringify({ jobs, clients, payloadBytes })}\n`);
      const [line] = await once(results, 'result'); // Rejects when the program ends.
      return JSON.parse(line);
    },
  };
}

/** Start Asynq, which adds jobs and works on them in one process. */
export async function startAsynq({ own, redis }) {
  const server = await redis();
  const client = await own(startTurns('asynq', { REDIS_URL: server.url }));
  return { processes: { client: [client], redis: [server] }, run: client.run };
}

const canConnect = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.end());
  });

/** Return the PID of the child that a process has started, from any of its threads. */
async function childOf(pid) {
  const threads = await readdir(`/proc/${pid}/task`);
  const children = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, 'utf8')));
  return Number(children.join(''));
}

/** Link the redis-server of this run into a folder, where Faktory finds it in PATH. */
async function linkRedis(folder) {
  const { command, args } = await findRedisServer(path('../../.cache/redis'), () => undefined);
  if (command === 'redis-server') return; // It is already in PATH, and a script with this name would call itself.
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  await writeFile(join(folder, 'redis-server'), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
}

/** Start a Faktory server, which starts its own Redis with its own settings. Its client generates the load. */
export async function startFaktory({ own }) {
  const home = await mkdtemp(join(tmpdir(), 'yardmaster-bench-'));
  await own({ stop: () => rm(home, { recursive: true, force: true }) });
  await linkRedis(home);
  const port = await freePort();
  const program = build('faktory-server', 'github.com/contribsys/faktory/cmd/faktory');
  const args = ['-b', `127.0.0.1:${port}`, '-w', `127.0.0.1:${await freePort()}`, '-l', 'error'];
  const server = await own(start(program, args, { HOME: home, PATH: `${home}${delimiter}${process.env.PATH}` }));
  await until(() => canConnect(port));
  const redisPid = await childOf(server.pid);
  const redis = { cpuMicros: async () => cpuMicrosOf(redisPid) };
  const load = await own(startTurns('faktory', { FAKTORY_URL: `tcp://127.0.0.1:${port}` }));
  return { processes: { server: [server], redis: [redis], generator: [load] }, run: load.run };
}
