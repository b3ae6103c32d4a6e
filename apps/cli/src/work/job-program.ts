import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { WorkerJob } from '@yardmaster/sdk';
import type { Env } from '../command.js';
import { guard, unguard } from './guard.js';
import { OutputStart, OutputTail, type ProgramEnd } from './outcome.js';

/** Time between SIGTERM and SIGKILL, in milliseconds: less than the 5 s that handlers have when the worker stops. */
const KILL_AFTER_MS = 4_000;

/** Time after the end of a program in which a process that it has started may keep its outputs open. */
const CLOSE_WITHIN_MS = 5_000;

/** The program cannot be started, whatever the job is. */
export class CannotStart extends Error {}

/** Errors of the system that concern the file of the program. Others may concern a single job. */
const OF_FILE = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR', 'EPERM']);

/** The program that works on jobs, its arguments, and the variables that it gets. */
export interface Program {
  file: string;
  args: string[];
  env: Env;
}

/** A running program. */
export interface JobProgram {
  /** Resolves when the program has ended and all its output was read. */
  ended: Promise<ProgramEnd | CannotStart>;
  /** Send SIGTERM, and 4 s later SIGKILL. */
  terminate: () => void;
  /** Send SIGKILL. */
  kill: () => void;
}

interface OutputHandlers {
  /** Gets each line of file descriptor 3. The program is not read from until the promise resolves. */
  onReportLine: (line: Buffer | null) => Promise<void>;
  /** Gets each line of the standard error. */
  onErrorLine: (line: string) => void;
}

const alive = new Set<JobProgram>();

/** Send SIGKILL to all programs. */
export function killAllPrograms(): void {
  for (const program of alive) program.kill();
}

/**
 * Start the program for a job.
 *
 * It leads a process group, so that signals reach what it has started, and so that Ctrl-C on a terminal reaches only the
 * worker, which lets the program finish.
 */
export function startProgram(
  job: WorkerJob,
  checkpoint: unknown,
  { file, args, env }: Program,
  handlers: OutputHandlers,
): JobProgram {
  const variables = {
    ...env,
    YARDMASTER_JOB_ID: job.id,
    YARDMASTER_JOB_NAME: job.name,
    YARDMASTER_ATTEMPT: String(job.attempt),
    YARDMASTER_CHECKPOINT: checkpoint === null ? '' : JSON.stringify(checkpoint),
  };
  let child: ChildProcess;
  try {
    child = spawn(file, args, { env: variables, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return { ended: Promise.resolve(notStarted(file, error)), terminate: () => undefined, kill: () => undefined };
  }
  let timer: NodeJS.Timeout | undefined;
  const program: JobProgram = {
    ended: endOf(child, file, job, handlers).finally(() => {
      clearTimeout(timer);
      alive.delete(program);
      if (child.pid !== undefined) unguard(child.pid);
    }),
    terminate() {
      signalGroup(child, 'SIGTERM');
      timer ??= setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS);
    },
    kill: () => signalGroup(child, 'SIGKILL'),
  };
  alive.add(program);
  if (child.pid !== undefined) guard(child.pid);
  return program;
}

async function endOf(child: ChildProcess, file: string, job: WorkerJob, handlers: OutputHandlers) {
  const exited = exitOf(child);
  // Without free file descriptors, a child has no outputs.
  if (!child.stdin) return notStarted(file, await exited.catch((error) => error));
  const [stdin, stdout, stderr, reports] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  stdin.on('error', () => undefined); // The program need not read its input.
  stdin.end(`${JSON.stringify(job.payload)}\n`);
  const output = new OutputStart();
  const tail = new OutputTail();
  const closed = Promise.allSettled([
    output.readAll(stdout),
    forEachLine(stderr, async (bytes) => {
      const line = bytes?.toString() ?? TOO_LONG;
      tail.add(line);
      handlers.onErrorLine(line);
    }),
    forEachLine(reports, handlers.onReportLine),
  ]);
  try {
    const { code, signal } = await exited;
    const timers = [
      // Processes that the program has left behind.
      setTimeout(() => signalGroup(child, 'SIGKILL'), CLOSE_WITHIN_MS),
      // Processes that have also left its group.
      setTimeout(() => [stdout, stderr, reports].map((stream) => stream.destroy()), 2 * CLOSE_WITHIN_MS),
    ];
    await closed;
    for (const each of timers) clearTimeout(each);
    return { code, signal, output, tail };
  } catch (error) {
    return notStarted(file, error);
  }
}

async function forEachLine(stream: Readable, handle: (line: Buffer | null) => Promise<void>): Promise<void> {
  for await (const line of linesOf(stream)) await handle(line);
}

const exitOf = (child: ChildProcess) =>
  new Promise<Pick<ProgramEnd, 'code' | 'signal'>>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });

/** Describe a program that was not started: a fault of the worker, or one of the job, such as a NUL in its name. */
function notStarted(file: string, error: unknown): ProgramEnd | CannotStart {
  const { code, message } = error as NodeJS.ErrnoException;
  if (OF_FILE.has(code ?? '')) return new CannotStart(`cannot start ${file}: ${code}`);
  const tail = new OutputTail();
  tail.add(`the program could not be started: ${code ?? message}`);
  return { code: null, signal: null, output: new OutputStart(), tail };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

/** Placeholder for a line of the standard error that is too long. */
const TOO_LONG = '(a line that is too long)';

/** Longest line in bytes. A checkpoint may have 64 KB; the rest is room for a service that allows more. */
const MAX_LINE = 256 * 1024;

const LF = 10;
const CR = 13;

/** Read the lines of a stream, without their ends. A line that is too long is null, so that memory stays bounded. */
export async function* linesOf(stream: Readable): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = [];
  let bytes = 0;
  function keep(part: Buffer): void {
    bytes += part.length;
    parts = bytes > MAX_LINE ? [] : [...parts, part];
  }
  function take(): Buffer | null {
    const line = bytes > MAX_LINE ? null : Buffer.concat(parts);
    parts = [];
    bytes = 0;
    return line?.at(-1) === CR ? line.subarray(0, -1) : line;
  }
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      keep(chunk.subarray(from, at));
      from = at + 1;
      yield take();
    }
    keep(chunk.subarray(from));
  }
  if (bytes > 0) yield take();
}
