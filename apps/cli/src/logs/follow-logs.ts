import { isJsonObject, type JsonValue } from '@yardmaster/protocol';
import { streamUrlOf } from '../addresses.js';
import { type FollowOptions, follow } from '../follow.js';
import type { LogsRequest } from '../logs-command.js';
import { readMessage } from '../message.js';
import { exitCodeOf, type Outcome, outcomeOf } from '../outcome.js';
import type { Connectivity } from './connectivity.js';
import type { LogReader } from './log-reader.js';

export interface FollowLogsOptions extends Pick<FollowOptions, 'silenceMs' | 'signal'> {
  request: Pick<LogsRequest, 'service' | 'jobId'>;
  reader: LogReader;
  contact: Connectivity;
}

/**
 * Go on reading a job's logs until the job has ended.
 *
 * The job's stream shows when there are new entries, so that no request is sent while nothing happens. After each
 * connection, and at the end, the reader looks for new entries.
 *
 * @throws Refused; the reason of the signal, when it is aborted
 */
export async function followLogs(options: FollowLogsOptions): Promise<Outcome> {
  const { request, reader, contact, signal } = options;
  const { service, jobId } = request;
  const enough = new AbortController();
  let code: number | null = null;
  let failure: unknown = null;
  const printUntil = (toSeq: number | null) =>
    reader.printOn(toSeq).catch((error: unknown) => {
      failure ??= error;
      enough.abort();
    });

  const end = await follow({
    url: streamUrlOf(service, { kind: 'job', jobId }),
    signal: AbortSignal.any([signal, enough.signal]),
    silenceMs: options.silenceMs,
    onMessage(text) {
      const message = readMessage(text);
      if (message === null) return;
      contact.made('stream');
      code ??= exitCodeOf(message);
      if (code !== null) enough.abort();
      else if (message.type === 'init') void printUntil(null);
      else if (message.type === 'logs_appended') void printUntil(toSeqOf(text));
    },
    onLost(reason) {
      contact.lost('stream', reason);
      reader.wasAway();
    },
  });
  if (failure !== null) throw failure;
  if (end.kind === 'refused') return outcomeOf(end, service);
  // Print what was appended before the end, because a lost connection may have hidden it.
  await reader.printOn(null);
  return code === null ? outcomeOf(end, service) : { code, sentence: null };
}

/** Return the newest seq in a `logs_appended`; null when it contains none, so that the reader looks for new entries. */
function toSeqOf(text: string): number | null {
  const { data } = JSON.parse(text) as { data?: JsonValue };
  return isJsonObject(data) && typeof data.toSeq === 'number' ? data.toSeq : null;
}
