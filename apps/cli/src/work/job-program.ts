import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { WorkerJob } from '@yardmaster/sdk';
import type { Env } from '../command.js';
import { guard, unguard } from './guard.js';
import { OutputStart, OutputTail, type ProgramEnd } from './outcome.js';

/** Time between SIGTERM and SIGKILL, in milliseconds. Below the 5 s that handlers get when the worker shuts down. */
const KILL_AFTER_MS = 4_000;

/** How long after the exit of a program its child processes may keep its outputs open, in milliseconds. */
const CLOSE_WITHIN_MS = 5_000;

/** The program can't be started for any job. */
export class CannotStart extends Error {}

/** System errors about the file of the program. Others may be specific to one job. */
const OF_FILE = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR', 'EPERM']);

/** The program that runs jobs, with its arguments and environment. */
export interface Program {
  file: string;
  args: string[];
  env: Env;
}

/** A running program. */
export interface JobProgram {
  /** Resolves when the program has exited and all of its output has been read. */
  ended: Promise<ProgramEnd | CannotStart>;
  /** Send SIGTERM, then SIGKILL 4 s later. */
  terminate: () => void;
  /** Send SIGKILL. */
  kill: () => void;
}

interface OutputHandlers {
  /** Called with each line of file descriptor 3. Reading pauses until the promise resolves. */
  onReportLine: (line: Buffer | null) => Promise<void>;
  /** Called with each line of standard error. */
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
 * It leads a process group, so that signals also reach its child processes, and so that Ctrl-C on a terminal reaches only
 * the worker, which lets the program finish.
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
  // If no file descriptors are free, a child has no pipes.
  if (!child.stdin) return notStarted(file, await exited.catch((error) => error));
  const [stdin, stdout, stderr, reports] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
  stdin.on('error', () => undefined); // The program may ignore its input.
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
      // Kill processes that the program left behind.
      setTimeout(() => signalGroup(child, 'SIGKILL'), CLOSE_WITHIN_MS),
      // Stop reading from processes that also left its group.
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

/** Describe a failed start: the fault of the program's file, or of the job, such as a NUL in its name. */
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
    // No process in the group is left.
  }
}

/** Placeholder for a line of standard error that exceeds MAX_LINE. */
const TOO_LONG = '(line too long)';

/** Longest line in bytes. By default, checkpoints have at most 64 KB, but a service may allow more. */
const MAX_LINE = 256 * 1024;

const LF = 10;
const CR = 13;

/** Read the lines of a stream, without line breaks. A line above MAX_LINE yields null, which bounds the memory. */
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
