import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, appendOk, entriesOf, gzipped, logsKey, readLogs, written } from './entries.js';

const CAP = 10;

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: `${CAP}` });
});
afterAll(() => service.stop());

const newJob = async () => (await createJob(service, 'cap')).id;
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`);

/** Expect just these seqs, each with the message that it was appended with. */
async function expectKept(id: string, from: number, to: number): Promise<void> {
  const logs = await readLogs(service, id);
  expect(logs.map(({ id, seq, message }) => [id, seq, message])).toEqual(
    lines(from, to).map((line, i) => [`${id}.${from + i}`, from + i, line]),
  );
  expect(await service.redis.llen(logsKey(service, id))).toBe(to - from + 1);
}

it('as many entries as may be kept are kept', async () => {
  const id = await newJob();
  await appendOk(service, id, lines(1, CAP));
  await expectKept(id, 1, CAP);
});

it('the oldest are dropped for one more, and its seq goes on', async () => {
  const id = await newJob();
  await appendOk(service, id, lines(1, CAP));
  for (let seq = CAP + 1; seq <= 3 * CAP; seq++) {
    await appendOk(service, id, lines(seq, seq), seq);
    await expectKept(id, seq - CAP + 1, seq);
  }
});

it('batches of any size drop as many as they need', async () => {
  const id = await newJob();
  let last = 0;
  for (const size of [3, 7, 1, 9, 10, 2, 11, 4, 25, 1, 1_000, 5]) {
    await appendOk(service, id, lines(last + 1, last + size), last + 1);
    last += size;
    await expectKept(id, Math.max(1, last - CAP + 1), last);
  }
});

it('of a batch that is larger than the cap the newest are kept, and the answer tells of all', async () => {
  const id = await newJob();
  await appendOk(service, id, lines(1, 25));
  await expectKept(id, 16, 25);
  await appendOk(service, id, lines(26, 28), 26);
  await expectKept(id, 19, 28);
});

it('a batch that is refused drops nothing', async () => {
  const id = await newJob();
  await appendOk(service, id, lines(1, 12));
  expect((await append(service, id, { body: [...lines(13, 30), 5] })).status).toBe(400);
  expect((await append(service, id, gzipped(written('NDJSON', entriesOf(1_001))))).status).toBe(413);
  await expectKept(id, 3, 12);
});

it('writers at once leave the newest, without a gap', async () => {
  const id = await newJob();
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => (await append(service, id, { body: lines(1, 1 + (n % 17)) })).body),
  );
  const total = answers.reduce((sum, { inserted }) => sum + inserted, 0);
  expect(Math.max(...answers.map(({ toSeq }) => toSeq))).toBe(total);
  const logs = await readLogs(service, id);
  expect(logs.map(({ seq }) => seq)).toEqual(lines(total - CAP + 1, total).map((_, i) => total - CAP + 1 + i));
  for (const { fromSeq, toSeq } of answers)
    for (const { seq, message } of logs.filter((log) => log.seq >= fromSeq && log.seq <= toSeq))
      expect(message).toBe(`line ${seq - fromSeq + 1}`);
});

it('a cap of 1 keeps the newest', async () => {
  const small = await startService({ LOGS_PER_JOB: '1' });
  try {
    const { id } = await createJob(small, 'cap');
    await appendOk(small, id, ['a']);
    await appendOk(small, id, ['b', 'c'], 2);
    expect(await readLogs(small, id)).toMatchObject([{ seq: 3, message: 'c' }]);
  } finally {
    await small.stop();
  }
});

it('10 000 are kept when nothing is said', async () => {
  const whole = await startService();
  try {
    const { id } = await createJob(whole, 'cap');
    for (let n = 0; n < 10; n++) await appendOk(whole, id, lines(n * 1_000 + 1, (n + 1) * 1_000), n * 1_000 + 1);
    const seqs = async () => (await readLogs(whole, id)).map(({ seq }) => seq);
    expect(await seqs()).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    await appendOk(whole, id, ['one', 'more'], 10_001);
    expect(await seqs()).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 3));
  } finally {
    await whole.stop();
  }
});
