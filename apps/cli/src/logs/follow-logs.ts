import { isJsonObject, type JsonValue } from '@yardmaster/protocol';
import { type ExitCode, exitOf, type Outcome, outcomeOf } from '../exit-codes.js';
import type { Connectivity } from '../service/connectivity.js';
import { follow } from '../service/follow.js';
import { readMessage } from '../service/message.js';
import { streamUrlOf } from '../service/service.js';
import type { LogsRequest } from './command.js';
import type { LogReader } from './log-reader.js';

interface FollowLogsOptions {
  request: Pick<LogsRequest, 'service' | 'jobId'>;
  reader: LogReader;
  connectivity: Connectivity;
  signal: AbortSignal;
}

/**
 * Continue reading a job's logs until the job has ended.
 *
 * The job's stream shows when there are new entries, so that no request is sent while nothing happens. After each
 * connection, and at the end, the reader looks for new entries.
 *
 * @throws Refused; the reason of the signal, when it is aborted
 */
export async function followLogs(options: FollowLogsOptions): Promise<Outcome> {
  const { request, reader, connectivity, signal } = options;
  const { service, jobId } = request;
  const enough = new AbortController();
  const url = streamUrlOf(service, { kind: 'job', jobId });
  let exit: ExitCode | null = null;
  let failure: unknown = null;
  const printUntil = (toSeq: number | null) =>
    reader.printUntil(toSeq).catch((error: unknown) => {
      failure ??= error;
      enough.abort();
    });

  const end = await follow({
    urlOf: () => url,
    signal: AbortSignal.any([signal, enough.signal]),
    onMessage(text) {
      const message = readMessage(text);
      if (message === null) return;
      connectivity.markConnected('stream');
      exit ??= exitOf(message);
      if (exit !== null) enough.abort();
      else if (message.type === 'init') void printUntil(null);
      else if (message.type === 'logs_appended') void printUntil(toSeqOf(text));
    },
    onLost(reason) {
      connectivity.markLost('stream', reason);
      reader.markDisconnected();
    },
  });
  if (failure !== null) throw failure;
  if (end.kind === 'refused') return outcomeOf(end, service);
  // Print the entries from before the end, because a lost connection may have hidden some.
  await reader.printUntil(null);
  return exit === null ? outcomeOf(end, service) : { exit, sentence: null };
}

/** Return the newest seq in a `logs_appended`; null when it contains none, so that the reader looks for new entries. */
function toSeqOf(text: string): number | null {
  const { data } = JSON.parse(text) as { data?: JsonValue };
  return isJsonObject(data) && typeof data.toSeq === 'number' ? data.toSeq : null;
}
