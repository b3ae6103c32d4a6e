import type { Io } from '../command.js';
import { ENDED_UNSEEN, EXIT, type ExitCode, exitOf, gaveUpAfter, type Outcome } from '../exit-codes.js';
import type { CommonRequest } from '../flags.js';
import { Refused } from '../service/call.js';
import { Connectivity } from '../service/connectivity.js';
import { readMessage } from '../service/message.js';
import { streamOf } from '../service/stream.js';
import { unlessAborted } from '../terminal/drain.js';
import { lineOfEntryFor } from './entry-line.js';
import { type LogFilters, LogReader } from './log-reader.js';

/** Parsed command line of `logs`. The format `auto` is colored on a terminal. */
export interface LogsRequest extends CommonRequest, LogFilters {
  jobId: string;
  follow: boolean;
  /** Number of newest entries to start with; null for all stored entries. */
  tail: number | null;
}

/** Print the log of a job and, with `follow`, continue until the job ends. */
export async function showLogs(request: LogsRequest, io: Io): Promise<Outcome> {
  const { timeoutSeconds } = request;
  const stop = new AbortController();
  const timer = timeoutSeconds === null ? undefined : setTimeout(() => stop.abort(), timeoutSeconds * 1000);
  try {
    return await printLogs(request, io, stop.signal);
  } catch (error) {
    if (error instanceof Refused) return { exit: EXIT.refused, sentence: error.message };
    if (!stop.signal.aborted) throw error; // It is a bug.
    return gaveUpAfter(timeoutSeconds);
  } finally {
    clearTimeout(timer);
    stop.abort(); // Cancel open requests.
  }
}

async function printLogs(request: LogsRequest, io: Io, signal: AbortSignal): Promise<Outcome> {
  const { service, jobId, tail, format } = request;
  const notice = (sentence: string) => io.err.write(`${sentence}\n`);
  const connectivity = new Connectivity(service, notice);
  const lineOf = lineOfEntryFor(format, io.out.isTTY === true);
  const reader = new LogReader({
    service,
    jobId,
    signal,
    filters: request,
    print: (entries) => print(entries.map(lineOf), io, signal),
    onDropped: (fromSeq, toSeq) => notice(`entries ${fromSeq} to ${toSeq} were removed before they could be read`),
    onLostEntries: (fromSeq, toSeq) => notice(`the service has lost entries ${fromSeq} to ${toSeq}`),
    onReply: () => connectivity.markConnected('logs'),
    onLost: (reason) => connectivity.markLost('logs', reason),
  });
  if (tail === null) await reader.printUntil(null);
  else await reader.printNewest(tail);
  if (request.follow) return followLogs({ request, reader, connectivity, signal });
  return { exit: EXIT.completed, sentence: null };
}

/** Print lines, and wait until the output can take more. */
async function print(lines: string[], { out, waitForDrain }: Io, signal: AbortSignal): Promise<void> {
  if (lines.length > 0) out.write(lines.map((line) => `${line}\n`).join(''));
  const wait = waitForDrain();
  if (wait !== null) await unlessAborted(wait, signal);
}

interface FollowLogsOptions {
  request: Pick<LogsRequest, 'service' | 'jobId'>;
  reader: LogReader;
  connectivity: Connectivity;
  signal: AbortSignal;
}

/**
 * Print new log entries until the job ends.
 *
 * The job's stream announces new entries, so no request is sent while nothing happens. The reader also checks for new
 * entries after each connection and at the end.
 *
 * @throws Refused; the reason of the signal if it aborts
 */
async function followLogs({ request, reader, connectivity, signal }: FollowLogsOptions): Promise<Outcome> {
  const failed = new AbortController();
  const printUntil = (toSeq: number | null) =>
    reader.printUntil(toSeq).catch((error: unknown) => failed.abort(error as Error));
  const stream = streamOf(
    request.service,
    { kind: 'job', jobId: request.jobId },
    {
      signal: AbortSignal.any([signal, failed.signal]),
      onLost(reason) {
        connectivity.markLost('stream', reason);
        reader.markDisconnected();
      },
    },
  );
  let exit: ExitCode | null = null;
  for await (const raw of stream) {
    const message = readMessage(raw);
    if (message === null) continue;
    connectivity.markConnected('stream');
    exit = exitOf(message);
    if (exit !== null) continue;
    if (message.type === 'init') void printUntil(null);
    else if (message.type === 'logs_appended') void printUntil(toSeqOf(raw.data));
  }
  // Check once more, because a lost connection may have hidden an announcement.
  await reader.printUntil(null);
  return exit === null ? ENDED_UNSEEN : { exit, sentence: null };
}

/** Return the newest seq of a `logs_appended` message; null if it has none, so that the reader checks for entries. */
function toSeqOf(data: unknown): number | null {
  const { toSeq } = (data ?? {}) as { toSeq?: unknown };
  return typeof toSeq === 'number' ? toSeq : null;
}
