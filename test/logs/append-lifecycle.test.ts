import { expect, it } from '@jest/globals';
import type { Status } from '@yardmaster/protocol';
import { redisNow } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appendOk, asRead, entriesOf, FORMATS, gzipped } from './entries.js';
import { messagesOf, range, readLogs, seqsOf } from './reading.js';

const service = withService();
/** A service with a short delivery time-out and a short retention. */
const shortLived = withService({ DELIVERY_TIMEOUT_SECONDS: '0.5', RETENTION_SECONDS: '1', MAX_LOG_ENTRIES: '5000' });

const read = async (id: string, of: TestService = service) => (await of.call('GET', `/jobs/${id}`)).body;
const post = async (id: string, verb: string, body?: unknown) => {
  const response = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  if (response.status !== 200) throw new Error(`${verb}: ${response.text}`);
};

/** Read everything about a job except its logs. */
const stateOf = async (id: string) => ({
  job: await read(id),
  progress: (await service.call('GET', `/jobs/${id}/progress`)).body,
  deadline: await service.redis.zscore(service.store.keys.deadlines(id.slice(0, 2)), id),
  record: await service.redis.hgetall(service.store.keys.job(id)),
});

/** Wait for the next millisecond of the clock of Redis, so that later writes have another time. */
async function untilLaterMillisecond(): Promise<void> {
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
])('stores logs of a job that is %s, and changes nothing else of the job', async (_, make) => {
  const id = await make();
  const before = await stateOf(id);
  await untilLaterMillisecond();

  await appendOk(service, id, entriesOf(20));

  expect(await stateOf(id)).toEqual(before);
  const logs = await readLogs(service, id);
  expect(logs).toEqual(asRead(id, entriesOf(20), logs));
});

it('numbers the logs of a job in one sequence from its creation to its end, and adds no events for them', async () => {
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

it.each([
  { what: 'a running job whose worker only sends logs times out', status: 'running', becomes: 'dead', of: service },
  {
    what: 'a delivered job that gets logs but no ack is pending again',
    status: 'delivered',
    becomes: 'pending',
    of: shortLived,
  },
] as const)('an append of logs extends no window: $what', async ({ status, becomes, of }) => {
  const id = await jobIn(of, status, 'silent', { timeoutSeconds: 0.5, maxRetries: 0 });
  let sent = 0;
  await until(async () => {
    await appendOk(of, id, ['still here'], ++sent);
    return (await read(id, of)).status === becomes;
  });
});

it('keeps the logs of each job apart', async () => {
  const ids = await Promise.all(['a', 'b', 'c'].map(async () => (await createJob(service, 'apart')).id));
  for (const [n, id] of ids.entries()) await appendOk(service, id, entriesOf(n + 1));
  for (const [n, id] of ids.entries()) expect(await readLogs(service, id)).toHaveLength(n + 1);
});

it('keeps the newest 10,000 log entries of a job, even from batches of 5,000', async () => {
  const { id } = await createJob(shortLived, 'many');
  const texts = (from: number, to: number) => range(from, to).map((n) => `"line ${n}"`);
  for (const from of [1, 5_001]) {
    const batch = gzipped(FORMATS.NDJSON(texts(from, from + 4_999)));
    expect((await append(shortLived, id, batch)).body).toMatchObject({ inserted: 5_000, fromSeq: from });
  }
  expect(seqsOf(await readLogs(shortLived, id))).toEqual(range(1, 10_000));
  await appendOk(shortLived, id, ['line 10001', 'line 10002'], 10_001);
  expect(messagesOf(await readLogs(shortLived, id))).toEqual(range(3, 10_002).map((n) => `line ${n}`));
});

it('purges logs with their job, even while workers append, and keeps the logs of other jobs', async () => {
  const open = await jobIn(shortLived, 'pending', 'open');
  await appendOk(shortLived, open, ['kept']);
  const ended = [await jobIn(shortLived, 'killed', 'ended'), await jobIn(shortLived, 'killed', 'ended')];
  const appendUntilGone = async (id: string) => {
    for (;;) {
      const { status, body } = await append(shortLived, id, { body: entriesOf(50) });
      if (status !== 200) return { status, body };
    }
  };

  const last = await Promise.all([...ended, ...ended].map(appendUntilGone));

  expect(last).toEqual(Array(4).fill({ status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } }));
  const keys = await keysOf(shortLived.redis, shortLived.prefix);
  expect(keys.filter((key) => ended.some((id) => key.includes(id)))).toEqual([]);
  expect(messagesOf(await readLogs(shortLived, open))).toEqual(['kept']);
});
