import { once } from 'node:events';
import type { JsonObject } from '@yardmaster/protocol';
import { EXIT } from '../exit-codes.js';
import type { LogsRequest } from '../logs-command.js';
import { gaveUpAfter, type Outcome } from '../outcome.js';
import { redact } from '../redact.js';
import { Connectivity } from './connectivity.js';
import type { LineOfEntry } from './entry-line.js';
import { followLogs } from './follow-logs.js';
import { LogReader } from './log-reader.js';
import { Refused } from './page.js';

export interface ShowLogsOptions {
  request: Omit<LogsRequest, 'format'>;
  lineOf: LineOfEntry;
  /** Prints a text. */
  out: (text: string) => void;
  /** Called after each page. The reader of the lines can take more once the promise resolves; null: at once. */
  drained: () => Promise<unknown> | null;
  /** Shows a printable sentence about the reading itself. */
  notice: (sentence: string) => void;
  /** As in ConnectionOptions. */
  silenceMs?: number | undefined;
}

/** Print the logs of a job, and with `follow` go on until it has ended. */
export async function showLogs(options: ShowLogsOptions): Promise<Outcome> {
  const { timeoutSeconds, service } = options.request;
  const stop = new AbortController();
  const timer = timeoutSeconds === null ? undefined : setTimeout(() => stop.abort(), timeoutSeconds * 1000);
  try {
    return await readAll(options, stop.signal);
  } catch (error) {
    if (error instanceof Refused) return { code: EXIT.refused, sentence: redact(error.message, service) };
    if (!stop.signal.aborted) throw error; // It is a fault of this program.
    return gaveUpAfter(timeoutSeconds);
  } finally {
    clearTimeout(timer);
    stop.abort(); // Requests that are still open are not wanted any more.
  }
}

async function readAll(options: ShowLogsOptions, signal: AbortSignal): Promise<Outcome> {
  const { request, notice, silenceMs } = options;
  const { service, jobId, tail } = request;
  const contact = new Connectivity(service, notice);
  const reader = new LogReader({
    service,
    jobId,
    signal,
    filters: request,
    print: (entries) => print(entries, options, signal),
    onDropped: (fromSeq, toSeq) => notice(`entries ${fromSeq} to ${toSeq} are no longer kept`),
    onLostEntries: (fromSeq, toSeq) => notice(`entries ${fromSeq} to ${toSeq} were lost by the service`),
    onResponse: () => contact.made('logs'),
    onLost: (reason) => contact.lost('logs', reason),
  });
  if (tail === null) await reader.printOn(null);
  else await reader.printNewest(tail);
  if (request.follow) return followLogs({ request, reader, contact, signal, silenceMs });
  return { code: EXIT.completed, sentence: null };
}

async function print(
  entries: JsonObject[],
  { lineOf, out, drained }: ShowLogsOptions,
  signal: AbortSignal,
): Promise<void> {
  if (entries.length > 0) out(entries.map((entry) => `${lineOf(entry)}\n`).join(''));
  const wait = drained();
  if (wait !== null) await unlessAborted(wait, signal);
}

/** Wait, but only until the signal is aborted, because the reader may have stopped reading. */
async function unlessAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([wait, once(signal, 'abort', { signal: over.signal })]);
  } finally {
    over.abort();
  }
  signal.throwIfAborted();
}
