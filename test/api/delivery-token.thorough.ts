import { isDeepStrictEqual } from 'node:util';
import { expect, it } from '@jest/globals';
import { changeState } from '../support/job-state.js';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const service = withService();

/** What a worker sends with each of its calls. */
const BODIES = {
  ack: undefined,
  progress: { percent: 1, message: 'on it' },
  checkpoint: { row: 1 },
  event: 'seen',
  keepalive: undefined,
  complete: { result: 1 },
  fail: { error: 'no' },
  release: { reason: 'stop' },
};
type Verb = keyof typeof BODIES;
const VERBS = Object.keys(BODIES) as Verb[];

type Step = Verb | 'claim' | 'timeout' | 'kill';

const call = (id: string, verb: string, token?: string) =>
  service.call('POST', `/jobs/${id}/${verb}`, {
    body: BODIES[verb as Verb],
    headers: token === undefined ? {} : { 'x-delivery-token': token },
  });

/** Let the window of a job's delivery or attempt, which was this long, end now. */
async function timeout(id: string, windowMs = 30_000): Promise<void> {
  const { redis, store } = service;
  const statusOf = async () => (await service.call('GET', `/jobs/${id}`)).body.status as string;
  const before = await statusOf();
  await redis.hset(store.keys.job(id), 'deliveredAt', 1_000_000);
  await redis.zadd(store.keys.deadlines(id.slice(0, 2)), 1_000_000 + windowMs, id);
  await until(async () => (await statusOf()) !== before);
}

/** Create a job, and bring it through these steps. @returns its id, the tokens of its deliveries, and the epoch of all */
async function jobAfter(
  steps: readonly Step[],
  fields: Record<string, unknown> = {},
): Promise<{ id: string; tokens: string[]; epoch: string }> {
  const { id } = await createJob(service, 'tokens', fields);
  const tokens: string[] = [];
  let epoch = '';
  for (const step of steps) {
    if (step === 'timeout') await timeout(id);
    else {
      const { status, body } = await call(id, step);
      expect({ step, status }).toEqual({ step, status: 200 });
      if (step !== 'claim') continue;
      const [attempts, returns, order] = body.job.deliveryToken.split('.');
      tokens.push(`${attempts}.${returns}`);
      epoch = order;
    }
  }
  return { id, tokens, epoch };
}

const stateOf = async (id: string) => {
  const { redis, store } = service;
  const key = store.keys.job(id);
  return [await redis.hgetall(key), await redis.lrange(`${key}:events`, 0, -1)];
};

const LOST = 'DELIVERY_LOST';
const IDLE = 'JOB_NOT_RUNNING';
const WRONG = 'JOB_NOT_DELIVERED';
const KILLED = 'JOB_KILLED';
const SAME = 'unchanged';
const DONE = 'changed';

/** Outcomes of calls, in the order of BODIES: an ack, the four heartbeats, complete, fail, release. */
const outcomes = (ack: string, heartbeat: string, complete: string, fail: string, release: string) =>
  Object.fromEntries(
    [ack, ...Array(4).fill(heartbeat), complete, fail, release].map((outcome, i) => [VERBS[i], outcome]),
  );
const ANOTHER = outcomes(LOST, LOST, LOST, SAME, SAME);
const UNKNOWN = outcomes(LOST, LOST, LOST, LOST, LOST);
const NEVER = '8.9';

interface Situation {
  title: string;
  steps: Step[];
  fields?: Record<string, unknown>;
  /** Outcomes by token without its epoch, which the deliveries must have had in this order; NEVER is of none of them. */
  table: Record<string, Record<string, string>>;
}

/** The table of the contract: every call with the token of every delivery of a job, in every situation. */
const SITUATIONS: Situation[] = [
  {
    title: 'is delivered',
    steps: ['claim'],
    table: { '0.0': outcomes(DONE, IDLE, IDLE, IDLE, DONE), [NEVER]: UNKNOWN },
  },
  {
    title: 'is delivered again after a delivery timeout',
    steps: ['claim', 'timeout', 'claim'],
    table: { '0.0': ANOTHER, '0.1': outcomes(DONE, IDLE, IDLE, IDLE, DONE), [NEVER]: UNKNOWN },
  },
  {
    title: 'is running again after a failure',
    steps: ['claim', 'ack', 'fail', 'claim', 'ack'],
    table: { '0.0': ANOTHER, '1.0': outcomes(SAME, DONE, DONE, DONE, DONE), '2.0': UNKNOWN, [NEVER]: UNKNOWN },
  },
  {
    title: 'is running again after a release and a timeout',
    steps: ['claim', 'ack', 'release', 'claim', 'ack', 'timeout', 'claim', 'ack'],
    table: {
      ...{ '0.0': ANOTHER, '0.1': ANOTHER, '1.1': outcomes(SAME, DONE, DONE, DONE, DONE) },
      ...{ '0.2': UNKNOWN, '2.1': UNKNOWN },
    },
  },
  {
    title: 'is pending after a failure',
    steps: ['claim', 'ack', 'fail'],
    table: {
      '0.0': outcomes(WRONG, IDLE, IDLE, SAME, SAME),
      ...{ '1.0': outcomes(WRONG, IDLE, IDLE, LOST, LOST), [NEVER]: outcomes(WRONG, IDLE, IDLE, LOST, LOST) },
    },
  },
  {
    title: 'is pending after a release before the ack',
    steps: ['claim', 'release'],
    table: {
      ...{ '0.0': outcomes(WRONG, IDLE, IDLE, SAME, SAME), '0.1': outcomes(WRONG, IDLE, IDLE, LOST, LOST) },
    },
  },
  {
    title: 'is completed by its second delivery',
    steps: ['claim', 'ack', 'fail', 'claim', 'ack', 'complete'],
    table: { '0.0': ANOTHER, '1.0': outcomes(IDLE, IDLE, SAME, IDLE, IDLE), [NEVER]: UNKNOWN },
  },
  {
    title: 'is dead after its second failure',
    steps: ['claim', 'ack', 'fail', 'claim', 'ack', 'fail'],
    fields: { maxRetries: 1 },
    table: { '0.0': ANOTHER, '1.0': outcomes(IDLE, IDLE, IDLE, SAME, SAME), [NEVER]: UNKNOWN },
  },
  {
    title: 'is dead after the timeout of its last attempt',
    steps: ['claim', 'ack', 'timeout'],
    fields: { maxRetries: 0 },
    table: { '0.0': outcomes(IDLE, IDLE, IDLE, SAME, SAME), [NEVER]: UNKNOWN },
  },
  {
    title: 'is killed while it was running',
    steps: ['claim', 'ack', 'kill'],
    table: {
      '0.0': outcomes(WRONG, KILLED, IDLE, IDLE, KILLED),
      [NEVER]: outcomes(WRONG, KILLED, IDLE, IDLE, KILLED),
    },
  },
];

/** Bring a job into a situation, make a call with a token of this job or of another epoch, and return its outcome. */
async function outcomeOf(
  { steps, fields, table }: Situation,
  verb: Verb,
  token: string,
  end?: string,
): Promise<string> {
  const { id, tokens, epoch } = await jobAfter(steps, fields);
  expect(Object.keys(table).slice(0, tokens.length)).toEqual(tokens);
  const before = await stateOf(id);
  const { status, body } = await call(id, verb, `${token}${end ?? `.${epoch}`}`);
  const isSame = isDeepStrictEqual(await stateOf(id), before);
  if (status === 200) {
    expect(body).toEqual({ success: true });
    // A keepalive in the millisecond of the ack leaves the record as it is.
    return isSame && (verb !== 'keepalive' || table[token]?.[verb] === SAME) ? SAME : DONE;
  }
  expect({ status, isSame, jobStatus: body.jobStatus }).toEqual({
    ...{ status: 409, isSame: true, jobStatus: (before[0] as { state: string }).state.split(' ')[0] },
  });
  if (body.code === LOST) expect(body.error).toBe('Job was handed to another worker');
  return body.code;
}

const rows = SITUATIONS.flatMap((situation) =>
  Object.entries(situation.table).map(([token, row]) => ({ title: situation.title, token, situation, row })),
);

it.each(rows)('gives each call with token $token the outcome of the table when the job $title', async (given) => {
  const { situation, token, row } = given;
  // At once, because each timeout waits for a sweep.
  const cells = VERBS.map(async (verb) => [verb, await outcomeOf(situation, verb, token)]);
  expect(Object.fromEntries(await Promise.all(cells))).toEqual(row);
});

it.each(SITUATIONS)(
  'treats a token of another epoch, or without an epoch, as unknown when the job $title',
  async (situation) => {
    const { [NEVER]: never = Object.values(situation.table).at(-1) } = situation.table;
    for (const end of ['', '.0', '.zzzzzzzzzzz']) {
      const cells = VERBS.map(async (verb) => [verb, await outcomeOf(situation, verb, '0.0', end)]);
      expect(Object.fromEntries(await Promise.all(cells))).toEqual(never);
    }
  },
);

it.each(['deleted', 'purged'])(
  'refuses the token of a job that was %s before another one was created with its idempotency key',
  async (how) => {
    const headers = { 'idempotency-key': `reused-${how}` };
    const create = async () =>
      (await service.call('POST', '/spaces/tokens/jobs', { body: { name: 'work' }, headers })).body.id as string;
    const id = await create();
    const { body } = await call(id, 'claim');
    await call(id, 'kill');
    if (how === 'deleted') await service.call('DELETE', `/jobs/${id}`);
    else await service.redis.zadd(service.store.keys.deadlines(id.slice(0, 2)), 1, id);
    await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 404);

    expect(await create()).toBe(id);
    await call(id, 'claim');
    await call(id, 'ack');
    for (const verb of VERBS) {
      const { status, body: refusal } = await call(id, verb, body.job.deliveryToken);
      expect({ verb, status, code: refusal.code }).toEqual({ verb, status: 409, code: LOST });
    }
  },
);

it.each([['fail'], ['release']] as const)(
  'leaves a job unchanged after a %s from an attempt before its maxRetries was lowered and it was requeued',
  async (verb) => {
    const fields = { name: 'work', unique: { key: verb, onConflict: 'replace' } };
    const create = async (maxRetries: number) =>
      (await service.call('POST', '/spaces/tokens/jobs', { body: { ...fields, maxRetries } })).body.id as string;
    const id = await create(1);
    for (const step of ['claim', 'ack', 'fail'] as const) await call(id, step);
    const { body } = await call(id, 'claim');
    await call(id, 'release');
    expect(await create(0)).toBe(id);
    await call(id, 'kill');
    await call(id, 'requeue');
    const before = await stateOf(id);
    expect(await call(id, verb, body.job.deliveryToken)).toMatchObject({ status: 200, body: { success: true } });
    expect(await stateOf(id)).toEqual(before);
  },
);

it.each(SITUATIONS)(
  'accepts logs with any token, and ignores the token of a kill, when the job $title',
  async (situation) => {
    const { id } = await jobAfter(situation.steps, situation.fields);
    for (const token of [...Object.keys(situation.table), 'nonsense']) {
      const headers = { 'x-delivery-token': token };
      const logs = await service.call('POST', `/jobs/${id}/logs`, { body: ['a line'], headers });
      expect(logs.status).toBe(200);
    }
    const [status, again] = [await call(id, 'kill', NEVER), await call(id, 'kill')].map((response) => response.status);
    expect(status).toBe(again);
  },
);

it('treats the last delivery of a job that was never acked as the attempt that made it dead', async () => {
  const { id, epoch } = await jobAfter(['claim']);
  const { redis, store } = service;
  await redis.hset(store.keys.job(id), 'deliveryTimeouts', 99);
  await changeState(redis, store.keys.job(id), { flags: '-d' });
  await timeout(id);
  for (const [verb, status] of [
    ['fail', 200],
    ['release', 200],
    ['ack', 409],
    ['complete', 409],
  ] as const)
    expect((await call(id, verb, `0.0.${epoch}`)).status).toBe(status);
  expect((await call(id, 'ack', `0.0.${epoch}`)).body.code).toBe(IDLE);
  expect((await call(id, 'fail', `1.0.${epoch}`)).body.code).toBe(LOST);
});

it.each(['', '1', '1.', '.1', '1.0.', '1.0.A', '1.0.0.0', '-1.0', '1.0, 1.0', 'a.b', '1e3.0'])(
  'refuses the delivery token %j, which no claim returns',
  async (token) => {
    const { id } = await jobAfter(['claim', 'ack']);
    for (const verb of VERBS) {
      const { status, body } = await call(id, verb, token);
      const error = 'x-delivery-token must be the deliveryToken of a claimed job';
      expect({ verb, status, body }).toEqual({ verb, status: 400, body: { error, code: 'INVALID_REQUEST' } });
    }
  },
);

it('does not reveal to a key of another space that a delivery was lost', async () => {
  const { id } = await jobAfter(['claim', 'ack', 'fail', 'claim']);
  const { key } = await service.key(['jobs:worker'], { spaceId: 'elsewhere' });
  const headers = { 'x-delivery-token': '0.0' };
  const { status, body } = await service.call('POST', `/jobs/${id}/complete`, { key, headers, body: {} });
  expect({ status, code: body.code }).toEqual({ status: 403, code: 'FORBIDDEN' });
});

it('shows the delivery token of a job only to the worker that claims it', async () => {
  const { id } = await jobAfter(['claim', 'timeout', 'claim', 'ack']);
  for (const path of [`/jobs/${id}`, '/spaces/tokens/jobs'])
    expect((await service.call('GET', path)).text).not.toMatch(/deliveryToken|returns|missedWindow/);
});

it('names the missed window in the hint of a late ack', async () => {
  const { id } = await jobAfter(['claim']);
  await timeout(id, 12_500);
  const body = { error: 'Job is not in a valid state for ack', code: WRONG, jobStatus: 'pending' };
  const hint = 'Job was not acked within 12.5 s of its delivery and is pending again';
  expect(await call(id, 'ack')).toMatchObject({ status: 409, body: { ...body, hint } });
  await service.call('POST', `/jobs/${id}/claim`);
  await call(id, 'release');
  expect((await call(id, 'ack')).body).toEqual(body); // Now pending for another reason.
});

it('returns a released job to its original place in the queue, without counting the attempt, and keeps its checkpoint', async () => {
  const { id } = await createJob(service, 'released', { maxRetries: 0 });
  await createJob(service, 'released');
  for (const verb of ['claim', 'ack', 'checkpoint']) await call(id, verb);
  expect((await call(id, 'release')).body).toEqual({ success: true });
  const { body: job } = await service.call('GET', `/jobs/${id}`);
  expect(job).toMatchObject({ status: 'pending', attemptNumber: 0, deliveredAt: null, startedAt: null });
  expect(job.events.at(-1)).toMatchObject({ type: 'released', data: { reason: 'stop' } });
  const { body } = await service.call('POST', '/spaces/released/jobs/poll');
  expect(body.jobs).toMatchObject([{ id, attempt: 1, attemptNumber: 0, checkpoint: { row: 1 } }]);
  expect(body.jobs[0].deliveryToken).toMatch(/^0\.1\./);
});

it('stores no reason for a release without one, and refuses a reason that is not a string', async () => {
  const { id } = await jobAfter(['claim']);
  const refused = await service.call('POST', `/jobs/${id}/release`, { body: { reason: 5 } });
  expect(refused).toMatchObject({ status: 400, body: { error: 'reason must be a string' } });
  await service.call('POST', `/jobs/${id}/release`);
  const { body } = await service.call('GET', `/jobs/${id}`);
  expect(body.events.at(-1)).toMatchObject({ type: 'released', data: { reason: null } });
});
