import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { LIMITS, logsQuery, type Status } from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';
import { redisNow } from '@yardmaster/store';
import { keysOf } from '../support/fsck.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type TestService, withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { append, appendOk, asRead, entriesOf, FORMATS, gzipped } from './entries.js';
import { messagesOf, range, readLogs, seqsOf } from './reading.js';

const service = withService();
/** A service with a short delivery timeout and a short retention. */
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
])('stores logs of a job that is %s, and changes nothing else about the job', async (_, make) => {
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

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readFileSync(`${root}docs/logs.md`, 'utf8');

it('the destination in docs/logs.md stores what pino logs', async () => {
  const { id } = await createJob(service, 'docs');
  const code = /```js\n(.*?)```/s.exec(docs)?.[1] as string;
  // In the folder of the tests, from which Node can resolve pino.
  const file = `${root}test/logs/pino-of-the-docs.tmp.mjs`;
  const more = `
    log.child({ page: 7 }).error(new RangeError('too wide'));
    for (let n = 0; n < 1_200; n++) log.debug({ n }, 'not shown');
    log.level = 'trace';
    for (let n = 0; n < 1_200; n++) log.trace({ n }, 'step');
    log.error({ msg: { not: 'a text' }, blob: 'x'.repeat(20_000) });
    pino({ name: 5, timestamp: false }, destination).info('without a time');
    const formatters = { level: (level) => ({ level }) };
    pino({ formatters, customLevels: { audit: 35 } }, destination).fatal('a label');
    log.info({ time: 'yesterday' }, 'y'.repeat(20_000));
    await destination.flush();
  `;
  writeFileSync(file, code + more);
  try {
    const env = { ...process.env, YARDMASTER_URL: service.url, YARDMASTER_API_KEY: ADMIN_KEY, JOB: id };
    const child = spawn(process.execPath, [file], { cwd: root, env, stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    rmSync(file);
  }
  const { logs, cursor } = (await service.call('GET', `/jobs/${id}/logs?after=0&limit=2`)).body;
  expect(cursor.hasMore).toBe(true);
  expect(logs).toMatchObject([
    { seq: 1, level: 'warn', message: 'no color profile', source: 'resizer', metadata: { file: 'cat.png' } },
    {
      seq: 2,
      level: 'error',
      message: 'too wide',
      source: 'resizer',
      metadata: { page: 7, err: { type: 'RangeError' } },
    },
  ]);
  const last = (await service.call('GET', `/jobs/${id}/logs?limit=5`)).body.logs;
  expect(last).toMatchObject([
    { seq: 1_202, level: 'trace', message: 'step', metadata: { n: 1_199 } },
    { seq: 1_203, level: 'error', message: '{"not":"a text"}', metadata: { cut: true } },
    { seq: 1_204, level: 'info', message: 'without a time', source: '5', metadata: {} },
    { seq: 1_205, level: 'fatal', message: 'a label', source: 'worker' },
    { seq: 1_206, level: 'info', message: 'y'.repeat(2_500), metadata: { cut: true } },
  ]);
});

it('docs/logs.md lists the limits of logs with their defaults', () => {
  const rows = [...docs.matchAll(/^\| [^|]+ \| (?:the newest )?([\d,]+)(?: (MB|KB))? \| `(\w+)` \|$/gm)];
  const units: Record<string, number> = { MB: 1_048_576, KB: 1_024 };
  expect(rows.length).toBe(6);
  for (const [, amount, unit = '', name] of rows) {
    const bytes = Number(amount?.replaceAll(',', '')) * (units[unit] ?? 1);
    expect([name, String(bytes)]).toEqual([name, VARIABLES[name as keyof typeof VARIABLES].default]);
  }
  expect(docs).toContain(`${LIMITS.logsDefault} by default; more than ${LIMITS.logsMax} counts as ${LIMITS.logsMax}`);
  expect(docs).toMatch(new RegExp(`${LIMITS.searchCharacters}\\s+characters and ${LIMITS.searchTerms} terms`));
  expect(logsQuery.parse({}).limit).toBe(LIMITS.logsDefault);
});
