import { describe, expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appendOk, asRead, entriesOf, FORMATS, gzipped } from './entries.js';
import { messagesOf, range, readLogs, seqsOf } from './reading.js';

const service = withService();
/** A service whose jobs are neither waited for nor kept for long. */
const brief = withService({ DELIVERY_TIMEOUT_SECONDS: '0.5', RETENTION_SECONDS: '1', MAX_LOG_ENTRIES: '5000' });

const read = async (id: string, of: TestService = service) => (await of.call('GET', `/jobs/${id}`)).body;
const post = async (id: string, verb: string, body?: unknown) => {
  const response = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  if (response.status !== 200) throw new Error(`${verb}: ${response.text}`);
};

/** Everything about a job but its logs. */
const stateOf = async (id: string) => ({
  job: await read(id),
  progress: (await service.call('GET', `/jobs/${id}/progress`)).body,
  deadline: await service.redis.zscore(service.store.keys.deadlines(id.slice(0, 2)), id),
  record: await service.redis.hgetall(service.store.keys.job(id)),
});

/** Wait until Redis' clock has moved on: what is written from here on has another time. */
async function aMomentLater(): Promise<void> {
  const before = await redisNow(service.store);
  await until(async () => (await redisNow(service.store)) > before);
}

const inStatus = (status: Status) => () => jobIn(service, status, 'lifecycle');

async function retried(): Promise<string> {
  const id = await jobIn(service, 'running', 'lifecycle');
  await post(id, 'fail', { error: 'once' });
  return id;
}

async function runningAgain(): Promise<string> {
  const id = await retried();
  for (const verb of ['claim', 'ack']) await post(id, verb);
  await post(id, 'progress', { percent: 50, message: 'half' });
  return id;
}

it.each<[what: string, make: () => Promise<string>]>([
  ['pending', inStatus('pending')],
  ['delivered', inStatus('delivered')],
  ['running', inStatus('running')],
  ['waiting for its retry', retried],
  ['running again', runningAgain],
  ['completed', inStatus('completed')],
  ['dead', inStatus('dead')],
  ['killed', inStatus('killed')],
])('a job that is %s takes logs, and nothing else of it changes', async (_, make) => {
  const id = await make();
  const before = await stateOf(id);
  await aMomentLater();

  await appendOk(service, id, entriesOf(20));

  expect(await stateOf(id)).toEqual(before);
  const logs = await readLogs(service, id);
  expect(logs).toEqual(asRead(id, entriesOf(20), logs));
});

it('logs stay with a job from its creation to its end, in one numbering, and are no events', async () => {
  const { id } = await createJob(service, 'lifecycle');
  const steps: [verb: string, event: string, body?: unknown][] = [
    ['claim', 'delivered'],
    ['ack', 'acked'],
    ['progress', 'progress', { percent: 1, message: 'x' }],
    ['fail', 'retried', { error: 'once' }],
    ['claim', 'delivered'],
    ['ack', 'acked'],
    ['checkpoint', 'checkpoint', { at: 1 }],
    ['complete', 'completed', { result: 1 }],
  ];
  await appendOk(service, id, ['created']);
  for (const [n, [verb, event, body]] of steps.entries()) {
    await post(id, verb, body);
    await appendOk(service, id, [event], n + 2);
  }

  const types = ['created', ...steps.map(([, event]) => event)];
  expect(messagesOf(await readLogs(service, id))).toEqual(types);
  expect((await read(id)).events.map(({ type }: { type: string }) => type)).toEqual(types);
});

describe('logs are no sign of life:', () => {
  it.each([
    { what: 'a job whose worker sends nothing else times out', status: 'running', becomes: 'dead', of: service },
    { what: 'a job that is not acked goes back to its queue', status: 'delivered', becomes: 'pending', of: brief },
  ] as const)('$what', async ({ status, becomes, of }) => {
    const id = await jobIn(of, status, 'silent', { timeoutSeconds: 0.5, maxRetries: 0 });
    let sent = 0;
    await until(async () => {
      await appendOk(of, id, ['still here'], ++sent);
      return (await read(id, of)).status === becomes;
    });
  });
});

it('logs of one job are not those of another', async () => {
  const ids = await Promise.all(['a', 'b', 'c'].map(async () => (await createJob(service, 'apart')).id));
  for (const [n, id] of ids.entries()) await appendOk(service, id, entriesOf(n + 1));
  for (const [n, id] of ids.entries()) expect(await readLogs(service, id)).toHaveLength(n + 1);
});

it('of more logs than are kept, those of two batches of 5 000, the newest 10 000 are', async () => {
  const { id } = await createJob(brief, 'many');
  const texts = (from: number, to: number) => range(from, to).map((n) => `"line ${n}"`);
  for (const from of [1, 5_001]) {
    const batch = gzipped(FORMATS.NDJSON(texts(from, from + 4_999)));
    expect((await append(brief, id, batch)).body).toMatchObject({ inserted: 5_000, fromSeq: from });
  }
  expect(seqsOf(await readLogs(brief, id))).toEqual(range(1, 10_000));
  await appendOk(brief, id, ['line 10001', 'line 10002'], 10_001);
  expect(messagesOf(await readLogs(brief, id))).toEqual(range(3, 10_002).map((n) => `line ${n}`));
});

it('logs go with their job, also when its worker appends until then; those of a job that goes on stay', async () => {
  const open = await jobIn(brief, 'pending', 'open');
  await appendOk(brief, open, ['kept']);
  const ended = [await jobIn(brief, 'killed', 'ended'), await jobIn(brief, 'killed', 'ended')];
  const appendUntilGone = async (id: string) => {
    for (;;) {
      const { status, body } = await append(brief, id, { body: entriesOf(50) });
      if (status !== 200) return { status, body };
    }
  };

  const last = await Promise.all([...ended, ...ended].map(appendUntilGone));

  expect(last).toEqual(Array(4).fill({ status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } }));
  const keys = await keysOf(brief.redis, brief.prefix);
  expect(keys.filter((key) => ended.some((id) => key.includes(id)))).toEqual([]);
  expect(messagesOf(await readLogs(brief, open))).toEqual(['kept']);
});
