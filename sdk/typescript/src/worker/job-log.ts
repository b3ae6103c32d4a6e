import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Backoff, pause } from '../backoff.js';
import { jobPath, send, type Target } from '../client/transport.js';
import { YardmasterError } from '../errors.js';
import type { LogEntryLevel } from '../wire.generated.js';
import { WakeUp, within } from './signals.js';
import type { OnWarning } from './warnings.js';

const INTERVAL_MS = 200;
const BATCH = { entries: 500, bytes: 900_000 }; // The service takes 1 MB.
const BUFFER = 10_000;
const ENTRY_BYTES = 15_000; // The service takes 16 KB.

const compress = promisify(gzip);

/** An entry in the log of a job. */
export interface LogEntry {
  level: LogEntryLevel;
  message: string;
  metadata?: object | undefined;
  timestamp: string;
}

/** Sends the log of a job in batches and in order. While the service is unavailable, it keeps the newest entries. */
export class JobLog {
  readonly #target: Target;
  readonly #jobId: string;
  readonly #warn: OnWarning;
  readonly #stopping = new AbortController();
  readonly #hurry = new WakeUp();
  #lines: string[] = [];
  #dropped = 0;
  #isClosed = false;
  #sending: Promise<void> | null = null;

  constructor(target: Target, jobId: string, warn: OnWarning) {
    this.#target = target;
    this.#jobId = jobId;
    this.#warn = warn;
  }

  add(entry: LogEntry): void {
    if (this.#isClosed) return;
    this.#lines.push(lineOf(entry));
    if (this.#lines.length > BUFFER) {
      this.#lines.shift();
      this.#dropped++;
    }
    if (this.#lines.length >= BATCH.entries) this.#hurry.wake();
    this.#sending ??= this.#send();
  }

  /** Send the rest, and drop entries that can't be sent within this time. */
  async close(limitMs: number): Promise<void> {
    this.#isClosed = true;
    this.#hurry.wake();
    if (this.#sending !== null) await within(limitMs, this.#sending);
    this.#stopping.abort();
  }

  async #send(): Promise<void> {
    while (this.#lines.length > 0) {
      if (!this.#isClosed && this.#lines.length < BATCH.entries) await within(INTERVAL_MS, this.#hurry.wait());
      const batch = this.#take();
      try {
        await this.#post(batch);
      } catch (error) {
        this.#warnOf(`${batch.length} log entries were dropped: ${(error as Error).message}`);
      }
    }
    this.#sending = null;
  }

  #warnOf(message: string): void {
    this.#warn({ kind: 'logs', message, jobIds: [this.#jobId] });
  }

  #take(): string[] {
    const batch: string[] = [];
    if (this.#dropped > 0) {
      const message = `${this.#dropped} log entries were dropped, because they could not be sent in time`;
      batch.push(lineOf({ level: 'warn', message, timestamp: new Date().toISOString() }));
      this.#warnOf(message);
      this.#dropped = 0;
    }
    let taken = 0;
    for (let bytes = 0; taken < this.#lines.length && batch.length + taken < BATCH.entries; taken++) {
      bytes += Buffer.byteLength(this.#lines[taken] as string) + 1;
      if (bytes > BATCH.bytes) break;
    }
    return [...batch, ...this.#lines.splice(0, taken)];
  }

  /** Send a batch, and retry until the service responds. A batch whose response is lost may be stored twice. */
  async #post(batch: string[]): Promise<void> {
    const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    const body = new Uint8Array(await compress(`${batch.join('\n')}\n`));
    const backoff = new Backoff();
    for (;;) {
      try {
        await send(
          this.#target,
          { method: 'POST', path: jobPath(this.#jobId, '/logs'), headers, body },
          this.#stopping.signal,
        );
        return;
      } catch (error) {
        const isTemporary = error instanceof YardmasterError && error.isTemporary;
        if (!isTemporary || !(await pause(backoff.next(error), this.#stopping.signal))) throw error;
      }
    }
  }
}

/** Return an entry as JSON. If it is too long, it is cut, because the service would refuse the whole batch. */
function lineOf(entry: LogEntry): string {
  const line = textOf(entry);
  if (Buffer.byteLength(line) <= ENTRY_BYTES) return line;
  // A character can take six bytes of JSON.
  const cut = `${entry.message.slice(0, ENTRY_BYTES / 6 - 50)} …`;
  return JSON.stringify({ ...entry, message: cut, metadata: { cut: true } });
}

/** Return an entry as JSON, without metadata that JSON can't represent. */
function textOf(entry: LogEntry): string {
  try {
    return JSON.stringify(entry);
  } catch (error) {
    return JSON.stringify({ ...entry, metadata: { metadata: (error as Error).message } });
  }
}
