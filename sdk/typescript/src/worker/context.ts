import type { Duration } from '../durations.js';
import { secondsOf } from '../durations.js';
import type { LogEntryLevel, ProgressSubProgressValue } from '../wire.generated.js';
import type { LogEntry } from './job-log.js';

/** Longest delay that the service accepts, in seconds. */
const MOST_DELAY = 31_622_400;
/** Characters of a reason. The rest is cut. */
const MOST_REASON = 1_000;
/** Part of a percent by which a rounding error may exceed 0 to 100. */
const ROUNDING = 1e-6;

/** What a handler knows about its job. */
export interface WorkerJob<Payload = unknown> {
  id: string;
  name: string;
  payload: Payload;
  /** Number of this attempt, from 1. */
  attempt: number;
  /** Attempts after the first. */
  maxRetries: number;
  /** Longest time between two heartbeats, which the worker sends. */
  timeoutSeconds: number;
  createdAt: Date;
}

/** Progress of parts of the work: percent, or percent and a message. */
export type SubProgress = Record<string, number | ProgressSubProgressValue>;

/** Writes to the log of the job, in batches. The metadata is a JSON object. */
export type Log = Record<LogEntryLevel, (message: string, metadata?: object) => void>;

/** What a handler returns to give its job back without an attempt. */
export class Released {
  constructor(
    readonly delaySeconds: number,
    readonly reason: string | undefined,
  ) {}
}

/** Options of an event. */
export interface EventOptions {
  /** Default: false */
  ephemeral?: boolean;
}

/** What a handler may do about its job. */
export interface Context<Checkpoint = unknown> {
  /** Aborted with a reason: `Killed`, `DeliveryLost`, `TimedOut` or `Draining`. */
  readonly signal: AbortSignal;
  /** What the latest `save` of any attempt has stored; null without one. */
  readonly checkpoint: Checkpoint | null;
  readonly log: Log;
  /**
   * Show how far the work is. It does not wait for the service. When it is called often, the newest report is sent, at
   * most every 200 ms, and the last one in any case.
   *
   * @param percent 0 to 100
   * @throws TypeError for an invalid argument
   */
  progress(percent: number, message: string, subProgress?: SubProgress): Promise<void>;
  /** Store a checkpoint for the next attempt, any JSON value. Resolves when it is stored. */
  save(checkpoint: Checkpoint): Promise<void>;
  /**
   * Add an event with any JSON value to the history. Resolves when it is stored, or when the storage is full.
   *
   * An ephemeral one is stored nowhere: it is sent once, to the streams that are open, and may be lost.
   */
  event(data: unknown, options?: EventOptions): Promise<void>;
  /** Return its value from the handler: the job goes back to the queue, and no attempt is counted. */
  release(options?: { delay?: Duration; reason?: string }): Released;
}

/** Where a context sends what a handler reports. */
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

/** Make the context of an attempt. */
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

/** Return a percentage; one that a rounding error has put outside 0 to 100 is 0 or 100. @throws TypeError */
function percentOf(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= -ROUNDING && value <= 100 + ROUNDING)
    return Math.min(Math.max(value, 0), 100);
  throw new TypeError(`${name} must be a number from 0 to 100; it is ${value}`);
}

function progressOf(percent: number, message: string, subProgress?: SubProgress): ProgressReport {
  const report = { percent: percentOf(percent, 'percent'), message };
  if (typeof message !== 'string' || message === '') throw new TypeError('message must be a text that is not empty');
  if (subProgress === undefined) return report;
  const parts = Object.entries(subProgress).map(([name, part]) => {
    const given = typeof part === 'number' ? { percent: part } : part;
    return [name, { ...given, percent: percentOf(given?.percent, `subProgress.${name}`) }] as const;
  });
  return { ...report, subProgress: Object.fromEntries(parts) };
}
