import type { Duration } from '../durations.js';
import { secondsOf } from '../durations.js';
import type { LogEntryLevel, ProgressSubProgressValue } from '../wire.generated.js';
import type { LogEntry } from './job-log.js';

/** Longest delay that the service accepts, in seconds. */
const MOST_DELAY = 31_622_400;
/** Maximum length of a reason, in characters. The rest is cut. */
const MOST_REASON = 1_000;
/** Percentage points by which a rounding error may leave the range 0 to 100. */
const ROUNDING = 1e-6;

/** The job that a handler receives. */
export interface WorkerJob<Payload = unknown> {
  id: string;
  name: string;
  payload: Payload;
  /** Number of this attempt, starting at 1. */
  attempt: number;
  /** Maximum number of retries after the first attempt. */
  maxRetries: number;
  /** Longest time between heartbeats, which the worker sends. */
  timeoutSeconds: number;
  createdAt: Date;
}

/** Progress of parts of the work by name: a percentage, or a percentage and a message. */
export type SubProgress = Record<string, number | ProgressSubProgressValue>;

/** Writes to the log of the job, in batches. Metadata is a JSON object. */
export type Log = Record<LogEntryLevel, (message: string, metadata?: object) => void>;

/** What a handler returns to release its job without using up an attempt. */
export class Released {
  constructor(
    readonly delaySeconds: number,
    readonly reason: string | undefined,
  ) {}
}

/** Options of an event. */
export interface EventOptions {
  /** Whether to send the event to open streams only, without storing it. Default: false */
  ephemeral?: boolean;
}

/** What a handler can do with its job. */
export interface Context<Checkpoint = unknown> {
  /** Aborted with a reason: `Killed`, `DeliveryLost`, `TimedOut` or `Draining`. */
  readonly signal: AbortSignal;
  /** Latest checkpoint, saved by an earlier attempt; null without one. */
  readonly checkpoint: Checkpoint | null;
  /** Log of the job. */
  readonly log: Log;
  /**
   * Report progress, without waiting for the service. Call it as often as you like: the SDK sends the newest report at
   * most every 200 ms, and always sends the last one.
   *
   * @param percent 0 to 100
   * @throws TypeError for an invalid argument
   */
  progress(percent: number, message: string, subProgress?: SubProgress): Promise<void>;
  /** Save a checkpoint, any JSON value, for the next attempt. Resolves when it is stored. */
  save(checkpoint: Checkpoint): Promise<void>;
  /**
   * Add an event with any JSON value to the job's history. Resolves when it is stored, or dropped because storage is
   * full.
   *
   * An ephemeral event isn't stored: it is sent once to open streams and may be lost.
   */
  event(data: unknown, options?: EventOptions): Promise<void>;
  /** Return this from the handler to put the job back in the queue without using up an attempt. */
  release(options?: { delay?: Duration; reason?: string }): Released;
}

/** Receives what a handler reports through its context. */
export interface Reporter {
  signal: AbortSignal;
  checkpoint: unknown;
  progress(report: ProgressReport): void;
  save(checkpoint: unknown): Promise<void>;
  event(data: unknown, options?: EventOptions): Promise<void>;
  log(entry: LogEntry): void;
}

export interface ProgressReport {
  percent: number;
  message: string;
  subProgress?: Record<string, ProgressSubProgressValue>;
}

const LEVELS: readonly LogEntryLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Create the context of an attempt. */
export function contextOf(reporter: Reporter): Context {
  const logAt = (level: LogEntryLevel) => (message: string, metadata?: object) =>
    reporter.log({ level, message: String(message), metadata, timestamp: new Date().toISOString() });
  return {
    signal: reporter.signal,
    checkpoint: reporter.checkpoint ?? null,
    log: Object.fromEntries(LEVELS.map((level) => [level, logAt(level)])) as Log,
    async progress(percent, message, subProgress) {
      reporter.progress(progressOf(percent, message, subProgress));
    },
    save: (checkpoint) => reporter.save(checkpoint),
    event: (data, options) => reporter.event(data, options),
    release: ({ delay = 0, reason } = {}) =>
      new Released(
        secondsOf(delay, 'delay', MOST_DELAY),
        reason && String(reason).slice(0, MOST_REASON).toWellFormed(),
      ),
  };
}

/** Check a percentage, and clamp a rounding error to 0 or 100. @throws TypeError */
function percentOf(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= -ROUNDING && value <= 100 + ROUNDING)
    return Math.min(Math.max(value, 0), 100);
  throw new TypeError(`${name} must be a number from 0 to 100; got ${value}`);
}

function progressOf(percent: number, message: string, subProgress?: SubProgress): ProgressReport {
  const report = { percent: percentOf(percent, 'percent'), message };
  if (typeof message !== 'string' || message === '') throw new TypeError('message must be a non-empty string');
  if (subProgress === undefined) return report;
  const parts = Object.entries(subProgress).map(([name, part]) => {
    const given = typeof part === 'number' ? { percent: part } : part;
    return [name, { ...given, percent: percentOf(given?.percent, `subProgress.${name}`) }] as const;
  });
  return { ...report, subProgress: Object.fromEntries(parts) };
}
