import { isJsonObject, type JsonValue } from '@yardmaster/protocol';
import { streamUrlOf } from '../addresses.js';
import { type FollowOptions, follow } from '../follow.js';
import type { LogsRequest } from '../logs-command.js';
import { readMessage } from '../message.js';
import { exitCodeOf, type Outcome, outcomeOf } from '../outcome.js';
import type { Contact } from './contact.js';
import type { LogReader } from './log-reader.js';

export interface FollowLogsOptions extends Pick<FollowOptions, 'silenceMs' | 'signal'> {
  request: Pick<LogsRequest, 'service' | 'jobId'>;
  reader: LogReader;
  contact: Contact;
}

/**
 * Read a job's logs on until it has ended. Its stream says when there are new ones, so that nothing is asked for while
 * nothing happens; after each connection, and at the end, it is looked what there is.
 *
 * @throws Refused; whatever aborts the signal
 */
export async function followLogs(options: FollowLogsOptions): Promise<Outcome> {
  const { request, reader, contact, signal } = options;
  const { service, jobId } = request;
  const enough = new AbortController();
  let code: number | null = null;
  let failure: unknown = null;
  const printOn = (toSeq: number | null) =>
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
      else if (message.type === 'init') void printOn(null);
      else if (message.type === 'logs_appended') void printOn(toSeqOf(text));
    },
    onLost(reason) {
      contact.lost('stream', reason);
      reader.wasAway();
    },
  });
  if (failure !== null) throw failure;
  if (end.kind === 'refused') return outcomeOf(end, service);
  // What was appended before the end, which a lost connection may have kept from us.
  await reader.printOn(null);
  return code === null ? outcomeOf(end, service) : { code, sentence: null };
}

/** The newest seq that a `logs_appended` tells; null when it does not, so that it is looked. */
function toSeqOf(text: string): number | null {
  const { data } = JSON.parse(text) as { data?: JsonValue };
  return isJsonObject(data) && typeof data.toSeq === 'number' ? data.toSeq : null;
}
