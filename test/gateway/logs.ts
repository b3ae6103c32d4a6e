import type { TestService } from '../support/service.js';
import type { StreamClient } from '../support/stream-client.js';

/** Append some entries to a job's logs, and return the seqs that they got. */
export async function append(service: TestService, id: string, count = 1): Promise<{ fromSeq: number; toSeq: number }> {
  const body = Array.from({ length: count }, (_, n) => `entry ${n}`);
  const response = await service.call('POST', `/jobs/${id}/logs`, { body });
  if (response.status !== 200) throw new Error(`not appended: ${response.text}`);
  return response.body;
}

/** Make entries of a job's logs as Redis stores them, to be written without a message on the job's channel. */
export const storedEntries = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => JSON.stringify([Date.now(), 2, `unpublished ${n}`]));

/** Return the seqs from one to another, both included. */
export const seqs = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Return every log seq in the messages that a client got so far, in their order and as often as it came. */
export const logSeqsOf = (client: StreamClient): number[] =>
  client.dataOf('logs_appended').flatMap(({ fromSeq, toSeq, count }) => {
    if (count !== toSeq - fromSeq + 1) throw new Error(`${fromSeq} to ${toSeq} are not ${count}`);
    return seqs(fromSeq, toSeq);
  });
