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
  /** Jobs at the same time. */
  concurrency: number;
  /** How long running jobs may take after the first signal. */
  drainSeconds: number;
  workerId: string;
}

const RELEASE_REASON = 'worker stops';

/** Exit codes by what made the worker hurry. */
const HURRIED: Record<string, ExitCode> = {
  SIGINT: WORK_EXIT.interrupted,
  SIGQUIT: WORK_EXIT.quit,
  SIGTERM: WORK_EXIT.terminated,
};

/**
 * Claim jobs and run a program for each, until a signal.
 *
 *   polling ── first signal: no more polls ──▶ draining ── all jobs have ended ──────────────────▶ returns
 *                                                 └─ --drain is over: end programs, release their jobs ──▶ returns
 *                                                 └─ second signal: kill programs, release their jobs ───▶ returns
 *
 * When its key is refused, it ends the programs at once. No program outlives it.
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

  /** Stop, because no program can be started. A second stop would release the jobs of those that run. */
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
    if (running.size > 0) io.err.write(`stopping: ${running.size} running, no more polls\n`);
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

/** Run the program for a job, and send what it reports. End it when the job is lost or the worker stops. */
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
