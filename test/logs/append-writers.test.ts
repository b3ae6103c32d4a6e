import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LogEntry } from '@yardmaster/protocol';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { append, ENCODING_NAMES, ENCODINGS, FORMAT_NAMES, type Format, readLogs, written } from './entries.js';

let service: TestService;
/** Two processes in front of the same jobs. */
let apis: ApiProcess[];
beforeAll(async () => {
  service = await startService();
  apis = await Promise.all([startApiProcess(service), startApiProcess(service)]);
});
afterAll(async () => {
  for (const api of apis) await api.stop();
  await service.stop();
});

const WRITERS = 20;
const BATCHES = 15;

interface Appended {
  messages: string[];
  inserted: number;
  fromSeq: number;
  toSeq: number;
}

const pick = <T>(from: readonly T[], n: number) => from[n % from.length] as T;

/** One worker that appends batch after batch, of other sizes, formats and encodings each. */
async function write(send: ApiProcess['append'], id: string, writer: number): Promise<Appended[]> {
  const done: Appended[] = [];
  for (let n = 0; n < BATCHES; n++) {
    const size = 1 + ((writer * 7 + n * 13) % 40);
    const messages = Array.from({ length: size }, (_, i) => `writer ${writer}, batch ${n}, line ${i}`);
    const format: Format = pick(FORMAT_NAMES, writer + n);
    const encode = ENCODINGS[pick(ENCODING_NAMES, Math.floor((writer + n) / FORMAT_NAMES.length))];
    const batch = encode(written(format, messages));
    const { status, body, text } = await send(id, batch);
    if (status !== 200) throw new Error(text);
    done.push({ messages, ...body });
  }
  return done;
}

/** What every answer said is what stands there, and nothing else does. */
function expectAll(logs: readonly LogEntry[], batches: readonly Appended[]): void {
  expect(logs.map(({ seq }) => seq)).toEqual(logs.map((_, i) => i + 1));
  expect(logs).toHaveLength(batches.reduce((sum, { messages }) => sum + messages.length, 0));
  for (const { messages, inserted, fromSeq, toSeq } of batches) {
    expect([inserted, toSeq - fromSeq + 1]).toEqual([messages.length, messages.length]);
    const stored = logs.slice(fromSeq - 1, toSeq);
    expect(stored.map(({ message }) => message)).toEqual(messages);
    expect(new Set(stored.map(({ createdAt }) => createdAt)).size).toBe(1);
  }
}

/** A worker sends a batch when the one before is stored: its lines are in its order. */
function expectInOrder(written: readonly Appended[][]): void {
  for (const batches of written) {
    const first = batches.map(({ fromSeq }) => fromSeq);
    expect(first).toEqual([...first].sort((a, b) => a - b));
  }
}

const numbers = Array.from({ length: WRITERS }, (_, n) => n);

describe(`of ${WRITERS} writers at once`, () => {
  it('no entry is lost, and every batch stays together where its answer says', async () => {
    const id = await jobIn(service, 'running', 'writers');
    const done = await Promise.all(numbers.map((writer) => write((...batch) => append(service, ...batch), id, writer)));
    expectAll(await readLogs(service, id), done.flat());
    expectInOrder(done);
  });

  it('the same holds when they write through two processes', async () => {
    const id = await jobIn(service, 'running', 'writers');
    const done = await Promise.all(numbers.map((writer) => write(pick(apis, writer).append, id, writer)));
    expectAll(await readLogs(service, id), done.flat());
    expectInOrder(done);
  });

  it('the same holds on as many jobs of a space', async () => {
    const ids = await Promise.all(numbers.map(async () => (await createJob(service, 'many')).id));
    const done = await Promise.all(ids.map((id, writer) => write(pick(apis, writer).append, id, writer)));
    for (const [n, id] of ids.entries()) expectAll(await readLogs(service, id), done[n] as Appended[]);
  });
});

it('batches that are sent without waiting for answers stay whole', async () => {
  const { id } = await createJob(service, 'eager');
  const sent = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const messages = Array.from({ length: 1 + (n % 50) }, (_, i) => `batch ${n}, line ${i}`);
      const batch = written(pick(FORMAT_NAMES, n), messages);
      const { body } = await pick(apis, n).append(id, batch);
      return { messages, ...body } as Appended;
    }),
  );
  expectAll(await readLogs(service, id), sent);
});
