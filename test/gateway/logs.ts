import type { TestService } from '../support/service.js';
import type { StreamClient } from '../support/stream-client.js';

/** Append some entries to a job's logs, and return the seqs that they got. */
export async function append(service: TestService, id: string, count = 1): Promise<{ fromSeq: number; toSeq: number }> {
  const body = Array.from({ length: count }, (_, n) => `entry ${n}`);
  const answer = await service.call('POST', `/jobs/${id}/logs`, { body });
  if (answer.status !== 200) throw new Error(`not appended: ${answer.text}`);
  return answer.body;
}

/** Entries of a job's logs as Redis has them: for those that nobody is told of. */
export const entries = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => JSON.stringify([Date.now(), 2, `unheard ${n}`]));

/** Seqs from one to another, both included. */
export const seqs = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Every seq of logs that a client was told of so far, in that order, each as often as it was told. */
export function toldTo({ messages }: StreamClient): number[] {
  return messages
    .filter(({ type }) => type === 'logs_appended')
    .flatMap(({ data: { fromSeq, toSeq, count } }) => {
      if (count !== toSeq - fromSeq + 1) throw new Error(`${fromSeq} to ${toSeq} are not ${count}`);
      return seqs(fromSeq, toSeq);
    });
}
