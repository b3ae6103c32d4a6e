import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedJob } from '@yardmaster/protocol';
import type { Io } from '../command.js';
import { Refused } from '../service/call.js';
import type { Service } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { isOfKey, JobLost, jobCalls, type Post } from './job-calls.js';
import { CannotStart, type Program, startProgram } from './job-program.js';
import { outcomeOf } from './outcome.js';
import { Reporter } from './reporter.js';

/** What all attempts of a worker have in common. */
export interface AttemptSettings {
  service: Service;
  program: Program;
  /** Longest time between two heartbeats, which is how late a killed job may be noticed. */
  heartbeatSeconds: number;
}

interface AttemptOptions {
  request: AttemptSettings;
  io: Io;
  /** Whether the worker was asked to stop before it could begin, so that the job is released at once. */
  isStopping: boolean;
  /** Aborted when the program must end, and its job be released. */
  release: AbortSignal;
  /** Aborted when the program must end at once. */
  kill: AbortSignal;
  /** Aborted when the outcome of calls is not waited for any more. */
  giveUp: AbortSignal;
  /** Called when the worker cannot continue, with a printable sentence. */
  onFatal: (sentence: string) => void;
}

/**
 * Work on a claimed job: ack it, run the program with heartbeats beside it, and report how it ended.
 *
 * @returns false when the service may not know how the attempt ended
 */
export async function runAttempt(job: ClaimedJob, options: AttemptOptions): Promise<boolean> {
  const { request, io, giveUp } = options;
  const post = jobCalls(job, { service: request.service, giveUp });
  const say = (text: string) => io.out.write(`${printable(`${job.id} ${job.name} ${text}`)}\n`);
  try {
    if (options.isStopping) {
      await post('release', { reason: RELEASE_REASON });
      say('released');
      return true;
    }
    await post('ack');
    say(`started attempt ${job.attempt}`);
    say(await new Attempt(job, { ...options, post }).run());
    return true;
  } catch (error) {
    if (error instanceof JobLost) say(`lost: ${error.message}`);
    else if (isOfKey(error)) options.onFatal((error as Refused).message);
    else if (error instanceof Refused) io.err.write(`${printable(`${job.id} ${error.message}`)}\n`);
    else if (giveUp.aborted) say('not reported: the service did not respond in time');
    else throw error;
    return error instanceof JobLost;
  }
}

const RELEASE_REASON = 'worker stops';

/** One run of the program for a job. */
class Attempt {
  readonly #job: ClaimedJob;
  readonly #options: AttemptOptions & { post: Post };
  /** Aborted when the worker does not have the job any more, with the reason. */
  readonly #lost = new AbortController();

  constructor(job: ClaimedJob, options: AttemptOptions & { post: Post }) {
    this.#job = job;
    this.#options = options;
  }

  /**
   * Run the program, and report how it ended.
   *
   * @returns the end, in words
   * @throws JobLost; Refused; the reason of `giveUp`
   */
  async run(): Promise<string> {
    const { post, release, onFatal } = this.#options;
    const over = new AbortController();
    const heartbeats = this.#sendHeartbeats(over.signal);
    try {
      const end = await this.#runProgram();
      this.#lost.signal.throwIfAborted();
      if (end instanceof CannotStart || (release.aborted && end.code !== 0)) {
        if (end instanceof CannotStart) onFatal(end.message);
        await post('release', { reason: RELEASE_REASON });
        return 'released';
      }
      const { endpoint, body, words } = outcomeOf(end);
      // A result that is too large, for example, fails the attempt.
      await post(endpoint, body).catch((error: unknown) => {
        if (!(error instanceof Refused) || isOfKey(error)) throw error;
        return post('fail', { error: `the result was refused: ${error.message}` });
      });
      return words;
    } finally {
      over.abort();
      await heartbeats;
    }
  }

  async #runProgram() {
    const { request, io, post, release, kill } = this.#options;
    const reporter = new Reporter({
      post,
      notice: (text) => io.err.write(`${printable(`${this.#job.id} ${text}`)}\n`),
      onLost: this.#lose,
    });
    const program = startProgram(this.#job, request.program, {
      onReportLine: (line) => reporter.readLine(line),
      onErrorLine: (line) => io.err.write(`${printable(`${this.#job.id} ${line}`)}\n`),
    });
    const stop = AbortSignal.any([this.#lost.signal, release]);
    const terminate = () => program.terminate();
    const killNow = () => program.kill();
    stop.addEventListener('abort', terminate);
    kill.addEventListener('abort', killNow);
    if (kill.aborted) killNow();
    else if (stop.aborted) terminate();
    try {
      const end = await program.ended;
      await reporter.flush();
      return end;
    } finally {
      stop.removeEventListener('abort', terminate);
      kill.removeEventListener('abort', killNow);
    }
  }

  /** Send heartbeats at a third of the execution window, until the signal. A slow program does not delay them. */
  async #sendHeartbeats(over: AbortSignal): Promise<void> {
    const { post, request } = this.#options;
    const everyMs = Math.min(request.heartbeatSeconds, this.#job.timeoutSeconds / 3) * 1000;
    const withinMs = Math.max(1_000, Math.min(everyMs, 30_000));
    const signal = AbortSignal.any([over, this.#options.giveUp]);
    try {
      for (;;) {
        await delay(everyMs, undefined, { signal });
        await post('keepalive', undefined, { signal, withinMs });
      }
    } catch (error) {
      if (!signal.aborted) this.#lose(error);
    }
  }

  /** End the program, because the worker does not have the job any more, or may not report about it. */
  readonly #lose = (error: unknown): void => this.#lost.abort(error);
}
