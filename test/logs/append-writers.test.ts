import { expect, it } from '@jest/globals';
import type { LogEntry } from '@yardmaster/protocol';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { withApiProcess } from './api-process.js';
import { append, FORMS } from './entries.js';
import { messagesOf, range, readLogs, seqsOf } from './reading.js';

/** Two API processes for the same jobs. */
const service = withService();
const apis = [service, withApiProcess(service)];

interface Appended {
  messages: string[];
  inserted: number;
  fromSeq: number;
  toSeq: number;
}

const pick = <T>(from: readonly T[], n: number) => from[n % from.length] as T;

/** Append a batch with its own size, format and encoding. */
async function write(id: string, writer: number, batch: number): Promise<Appended> {
  const size = 1 + ((writer * 7 + batch * 13) % 40);
  const messages = range(1, size).map((line) => `writer ${writer}, batch ${batch}, line ${line}`);
  const { status, body, text } = await append(pick(apis, writer), id, pick(FORMS, writer + batch).write(messages));
  if (status !== 200) throw new Error(text);
  return { messages, ...body };
}

/** Expect exactly the entries that the responses report. */
function expectAll(logs: readonly LogEntry[], batches: readonly Appended[]): void {
  expect(seqsOf(logs)).toEqual(range(1, batches.flatMap(({ messages }) => messages).length));
  for (const { messages, inserted, fromSeq, toSeq } of batches) {
    expect([inserted, toSeq - fromSeq + 1]).toEqual([messages.length, messages.length]);
    const stored = logs.slice(fromSeq - 1, toSeq);
    expect(messagesOf(stored)).toEqual(messages);
    expect(new Set(stored.map(({ createdAt }) => createdAt)).size).toBe(1);
  }
}

it('stores every log batch of 20 concurrent writers contiguously and in the order of its writer', async () => {
  const { id } = await createJob(service, 'writers');
  const done = await Promise.all(
    range(1, 20).map(async (writer) => {
      const batches: Appended[] = [];
      for (const batch of range(1, 12)) batches.push(await write(id, writer, batch));
      return batches;
    }),
  );
  expectAll(await readLogs(service, id), done.flat());
  for (const batches of done) {
    const first = batches.map(({ fromSeq }) => fromSeq);
    expect(first).toEqual(first.toSorted((a, b) => a - b));
  }
});

it('stores every log batch contiguously when batches are sent without waiting for responses', async () => {
  const { id } = await createJob(service, 'writers');
  const sent = await Promise.all(range(1, 80).map((writer) => write(id, writer, 1)));
  expectAll(await readLogs(service, id), sent);
});
