import {
  Aborted,
  type Context,
  Draining,
  type Warning,
  Worker,
  type WorkerJob,
  Yardmaster,
  YardmasterError,
} from '@yardmaster/sdk';
import type { Io } from '../command.js';
import { type ExitCode, type Outcome, WORK_EXIT } from '../exit-codes.js';
import { redact, type Service } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { CannotStart, killAllPrograms, type Program, startProgram } from './job-program.js';
import { resultOf } from './outcome.js';
import { Reporter } from './reporter.js';

/** Parsed command line of `work`. */
export interface WorkRequest {
  service: Service;
  spaceId: string;
  /** Names of jobs to claim; empty for any. */
  names: string[];
  program: Program;
  /** Maximum number of jobs to run at once. */
  concurrency: number;
  /** How long to wait for running jobs after the first signal, in seconds. */
  drainSeconds: number;
  workerId: string;
}

const RELEASE_REASON = 'worker is shutting down';

/** Exit codes by the signal that forced a fast stop. */
const HURRIED: Record<string, ExitCode> = {
  SIGINT: WORK_EXIT.interrupted,
  SIGQUIT: WORK_EXIT.quit,
  SIGTERM: WORK_EXIT.terminated,
};

/**
 * Claim jobs and run a program for each, until a signal arrives.
 *
 *   polling ── first signal: stop polling ──▶ draining ── all jobs have ended ───────────────────────▶ returns
 *                                                └─ --drain expires: terminate programs, release jobs ──▶ returns
 *                                                └─ second signal: kill programs, release jobs ─────────▶ returns
 *
 * If the service refuses the key, all programs end immediately. No program outlives the worker.
 */
export async function work(request: WorkRequest, io: Io): Promise<Outcome> {
  const { first, second } = io.stopSignals();
  process.once('exit', killAllPrograms);
  const { service, spaceId, names, concurrency, drainSeconds, workerId } = request;
  const running = new Set<string>();
  const unsettled = new Set<string>();
  let fatal: string | null = null;

  function onWarning({ kind, message, jobIds }: Warning): void {
    if (kind === 'unsettled') for (const id of jobIds) unsettled.add(id);
    if (kind !== 'failed') io.err.write(`${[...jobIds, redact(message, service)].join(' ')}\n`);
  }

  /** Stop once, because no program can be started. A second stop would release the jobs that are still running. */
  function endWith(sentence: string): void {
    if (fatal === null && !first.aborted) worker.stop();
    fatal ??= sentence;
  }

  async function handle(job: WorkerJob, context: Context): Promise<unknown> {
    running.add(job.id);
    const say = (text: string) => io.out.write(`${printable(`${job.id} ${job.name} ${text}`)}\n`);
    say(`started attempt ${job.attempt}`);
    try {
      const end = await runProgram(job, context, { request, io, kill: second });
      const { aborted, reason } = context.signal;
      if (aborted && reason instanceof Aborted && !(reason instanceof Draining)) return say(`lost: ${reason.message}`);
      if (end instanceof CannotStart) endWith(end.message);
      if (end instanceof CannotStart || (aborted && end.code !== 0)) {
        say('released');
        return context.release({ reason: RELEASE_REASON });
      }
      const result = resultOf(end);
      say('completed');
      return result;
    } catch (error) {
      say(`failed: ${(error as Error).name}`);
      throw error;
    } finally {
      running.delete(job.id);
    }
  }

  const client = new Yardmaster({ url: service.url.href, apiKey: service.token ?? '', space: spaceId });
  const options = { concurrency, drain: drainSeconds, workerId, handleSignals: false, onWarning };
  const worker = new Worker(client, options);
  if (names.length === 0) worker.onAny(handle);
  for (const name of names) worker.on(name, handle);
  first.addEventListener('abort', () => {
    if (running.size > 0)
      io.err.write(`stopping: waiting for ${running.size} running ${running.size === 1 ? 'job' : 'jobs'}\n`);
    worker.stop();
  });
  second.addEventListener('abort', () => {
    killAllPrograms();
    worker.stop();
  });
  try {
    await worker.run();
  } catch (error) {
    if (!(error instanceof YardmasterError)) throw error;
    fatal = redact(error.message, service);
  } finally {
    killAllPrograms();
  }
  if (fatal !== null) return { exit: WORK_EXIT.refused, sentence: fatal };
  const hurried = second.aborted ? (HURRIED[String(second.reason)] ?? WORK_EXIT.crashed) : null;
  const drained = first.reason === 'SIGPIPE' ? WORK_EXIT.outputClosed : WORK_EXIT.drained;
  if (unsettled.size === 0) return { exit: hurried ?? drained, sentence: null };
  const sentence = `could not report the outcome of ${unsettled.size} job${unsettled.size > 1 ? 's' : ''}`;
  return { exit: hurried ?? WORK_EXIT.unreported, sentence };
}

/** Run the program for a job, and send its reports. Terminate it if the job is lost or the worker is shutting down. */
async function runProgram(
  job: WorkerJob,
  context: Context,
  { request, io, kill }: { request: WorkRequest; io: Io; kill: AbortSignal },
) {
  const notice = (text: string) => io.err.write(`${printable(`${job.id} ${text}`)}\n`);
  const reporter = new Reporter(context, notice);
  const program = startProgram(job, context.checkpoint, request.program, {
    onReportLine: (line) => reporter.readLine(line),
    onErrorLine: notice,
  });
  context.signal.addEventListener('abort', program.terminate);
  if (context.signal.aborted) program.terminate();
  if (kill.aborted) program.kill();
  const end = await program.ended;
  await reporter.flush();
  return end;
}
