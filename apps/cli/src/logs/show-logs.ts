import { once } from 'node:events';
import type { Io } from '../command.js';
import { EXIT, gaveUpAfter, type Outcome } from '../exit-codes.js';
import { Refused } from '../service/call.js';
import { Connectivity } from '../service/connectivity.js';
import type { LogsRequest } from './command.js';
import { lineOfEntryFor } from './entry-line.js';
import { followLogs } from './follow-logs.js';
import { LogReader } from './log-reader.js';

/** Print the logs of a job, and with `follow` continue until it has ended. */
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
    stop.abort(); // Requests that are still open are not wanted any more.
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
    onDropped: (fromSeq, toSeq) => notice(`entries ${fromSeq} to ${toSeq} are no longer stored`),
    onLostEntries: (fromSeq, toSeq) => notice(`the service has lost entries ${fromSeq} to ${toSeq}`),
    onReply: () => connectivity.markConnected('logs'),
    onLost: (reason) => connectivity.markLost('logs', reason),
  });
  if (tail === null) await reader.printUntil(null);
  else await reader.printNewest(tail);
  if (request.follow) return followLogs({ request, reader, connectivity, signal });
  return { exit: EXIT.completed, sentence: null };
}

/** Print lines, and wait until the reader can take more. */
async function print(lines: string[], { out, waitForDrain }: Io, signal: AbortSignal): Promise<void> {
  if (lines.length > 0) out.write(lines.map((line) => `${line}\n`).join(''));
  const wait = waitForDrain();
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
