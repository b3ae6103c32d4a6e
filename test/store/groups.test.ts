import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { inGroups } from '@yardmaster/api';
import { createJobRequest } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJob,
  createJobs,
  createStore,
  failJob,
  getProgress,
  heartbeatJob,
  packJob,
  partitionOf,
  pollJobs,
  prepareRedis,
  readStatus,
  rescheduleJob,
  type Store,
  settleAndPoll,
} from '@yardmaster/store';
import type { Redis } from 'ioredis';
import { connectTo } from '../support/connect.js';
import { fsck } from '../support/fsck.js';
import { changeState } from '../support/job-state.js';
import { withRedis } from '../support/own-redis.js';
import { until } from '../support/until.js';

// Calls that wait at the same moment leave in one script.

const SPACE = 'grouped';
const server = withRedis({ appendonly: 'no' });
let redis: Redis;
let alone: Store;
/** The commands that ran scripts, as their words. */
let sent: string[][];
/** Whether replies are held back until the functions in `held` are called. */
let isHeld = false;
/** Whether replies are lost. */
let isLost = false;
const held: (() => void)[] = [];
let store: Store;

beforeAll(() => {
  redis = connectTo(server.url);
});
afterAll(() => redis.disconnect());
beforeEach(async () => {
  isHeld = false;
  isLost = false;
  await redis.config('SET', 'maxmemory', '0');
  await redis.flushall();
  alone = createStore(redis);
  await prepareRedis(alone);
  sent = [];
  const recording = new Proxy(redis, {
    get(target, property) {
      const value = Reflect.get(target, property, target);
      if (property !== 'evalsha') return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: unknown[]) => {
        sent.push(args.map(String));
        const reply = (value as (...args: unknown[]) => Promise<unknown>).apply(target, args);
        if (isLost) await reply.then(() => Promise.reject(new Error('Connection is closed.')));
        if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
        return reply;
      };
    },
  });
  store = inGroups(createStore(recording));
});

const VERB = /^(create|poll|claim|ack|heartbeat|complete|fail|release)$/;
/** The verbs of each script that was sent, in order; none for a script of one verb. */
const verbsSent = () =>
  sent.map((words) => words.slice(words.indexOf('@', 1) + 1 || words.length).filter((word) => VERB.test(word)));

const request = (fields = {}) => createJobRequest.parse({ name: 'work', ...fields });
const create = (fields = {}) => createJob(store, SPACE, request(fields)).then(({ job }) => job.id);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Create jobs, and start them, one by one. */
async function started(count: number, fields = {}): Promise<{ id: string; deliveryToken: string }[]> {
  for (const _ of upTo(count)) await createJob(alone, SPACE, request(fields));
  const { jobs } = await pollJobs(alone, SPACE, { count, names: [] });
  for (const { id } of jobs) await ackJob(alone, ANY_SPACE, id);
  return jobs;
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error) => error.code ?? error.message,
  );

it('sends a single call with the script of its verb, and simultaneous calls with one script', async () => {
  await create();
  expect(verbsSent()).toEqual([[]]);
  const [a, b] = await started(2);
  sent = [];
  await Promise.all([
    create(),
    pollJobs(store, SPACE, { count: 1, names: [] }),
    completeJob(store, { spaceId: null, deliveryToken: a?.deliveryToken as string }, a?.id as string, 1),
    failJob(store, ANY_SPACE, b?.id as string, { error: 'no' }),
  ]);
  // Calls on which running jobs depend come first.
  expect(verbsSent()).toEqual([['complete', 'fail', 'create', 'poll']]);
  expect(await fsck(alone)).toEqual([]);
});

it('sends two scripts at a time while more calls gather', async () => {
  isHeld = true;
  const first = create();
  await until(() => held.length === 1);
  const second = create();
  await until(() => held.length === 2);
  const others = [create(), create(), create()];
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(sent).toHaveLength(2);
  isHeld = false;
  for (const pass of held.splice(0)) pass();
  await Promise.all([first, second, ...others]);
  expect(verbsSent().at(-1)).toEqual(['create', 'create', 'create']);
});

it('immediately sends calls that fill a script', async () => {
  isHeld = true;
  const first = [create(), create(), create()];
  await until(() => held.length === 1);
  const second = create();
  await until(() => held.length === 2);
  const others = upTo(130).map(() => create());
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(sent).toHaveLength(4); // Before the timer of waiting calls.
  isHeld = false;
  for (const pass of held.splice(0)) pass();
  await Promise.all([...first, second, ...others]);
  expect(verbsSent().map(({ length }) => length)).toEqual([3, 0, 50, 50, 30]);
});

it('does not delay calls behind replies that never arrive', async () => {
  isHeld = true;
  const calls = [create()];
  await until(() => held.length === 1);
  calls.push(create());
  await until(() => held.length === 2);
  calls.push(create(), create());
  await until(() => held.length === 3);
  isHeld = false;
  for (const pass of held.splice(0)) pass();
  await Promise.all(calls);
  expect(sent).toHaveLength(3);
});

it('sends at most 50 jobs in one script, and a poll that does not fit in another one', async () => {
  await Promise.all(upTo(120).map(() => create()));
  expect(verbsSent().map(({ length }) => length)).toEqual([50, 50, 20]);
  sent = [];
  const names = upTo(60).map((n) => `name-${n}`);
  await Promise.all([create(), pollJobs(store, SPACE, { count: 50, names }), create()]);
  expect(verbsSent()).toEqual([[], [], []]);
  sent = [];
  await Promise.all([create(), pollJobs(store, SPACE, { count: 49, names: [] }), create()]);
  expect(verbsSent()).toEqual([['create', 'poll'], []]);
});

it('sends a poll for many jobs even while urgent calls keep coming', async () => {
  const jobs = await started(10);
  let isOver = false;
  const beats = Promise.all(
    jobs.flatMap(({ id }) =>
      upTo(30).map(async () => {
        for (let n = 0; n < 40 && !isOver; n++) await heartbeatJob(store, ANY_SPACE, id, { kind: 'keepalive' });
      }),
    ),
  );
  await until(() => sent.length > 20);
  const before = sent.length;
  await Promise.all([pollJobs(store, SPACE, { count: 50, names: [] }), create()]);
  const scripts = sent.length - before;
  isOver = true;
  await beats;
  expect(scripts).toBeLessThan(60); // Every fourth script begins with calls that are not urgent; otherwise there are 200.
});

it('sends large calls in several scripts', async () => {
  const payload = { text: 'x'.repeat(100_000) };
  await Promise.all(upTo(5).map(() => create({ payload })));
  expect(verbsSent().map(({ length }) => length)).toEqual([2, 2, 0]);
});

it('polls of a group respect the places of jobs that calls between the polls have moved', async () => {
  const ids = [];
  for (const _ of upTo(4)) ids.push((await createJob(alone, SPACE, request())).job.id);
  const one = { count: 1, names: [] };
  const [first, , second] = await Promise.all([
    settleAndPoll(store, SPACE, {
      settle: [{ jobId: ids[3] as string, action: 'keepalive' } as never],
      poll: one,
      refusalOf: () => null,
    }),
    rescheduleJob(store, ANY_SPACE, ids[1] as string, { scheduledFor: null, delaySeconds: 0, priority: null }),
    settleAndPoll(store, SPACE, {
      settle: [{ jobId: ids[3] as string, action: 'keepalive' } as never],
      poll: one,
      refusalOf: () => null,
    }),
  ]);
  expect(sent).toHaveLength(1);
  expect([first.jobs[0]?.id, second.jobs[0]?.id]).toEqual([ids[0], ids[2]]);
});

it.each([
  ['few jobs', 2],
  ['many jobs', 8],
])('an error of one call does not affect the others of its group: %s', async (_, count) => {
  const jobs = await started(count);
  const [broken = { id: '' }, ...others] = jobs;
  const state = await redis.hget(alone.keys.job(broken.id), 'state');
  await changeState(redis, alone.keys.job(broken.id), { attempt: 'x' });
  const codes = await Promise.all([
    codeOf(completeJob(store, ANY_SPACE, broken.id, null)),
    ...others.map(({ id }) => codeOf(completeJob(store, ANY_SPACE, id, null))),
    codeOf(completeJob(store, ANY_SPACE, `${partitionOf(SPACE)}${'a'.repeat(26)}`, null)),
    codeOf(completeJob(store, { spaceId: 'other' }, others[0]?.id as string, null)),
  ]);
  expect(codes[0]).toMatch(/the state of the job is not valid/);
  expect(codes.slice(1)).toEqual([...others.map(() => 'done'), 'JOB_NOT_FOUND', 'FORBIDDEN']);
  expect(sent).toHaveLength(1);
  await redis.hset(alone.keys.job(broken.id), 'state', state as string);
  expect(await fsck(alone)).toEqual([]);
});

it('settles a job with an invalid record as UNAVAILABLE, alone and with others', async () => {
  const [broken, other] = await started(2);
  await changeState(redis, alone.keys.job(broken?.id as string), { attempt: 'x' });
  const complete = (id = '') => ({ jobId: id, action: 'complete', result: null, deliveryToken: null }) as const;
  const settle = (...ids: (string | undefined)[]) =>
    settleAndPoll(store, SPACE, { settle: ids.map(complete), poll: null, refusalOf: () => null });
  const unavailable = expect.objectContaining({ success: false, code: 'UNAVAILABLE' });
  expect((await settle(broken?.id)).settled).toEqual([unavailable]);
  expect((await settle(broken?.id, other?.id)).settled).toEqual([unavailable, { jobId: other?.id, success: true }]);
});

it('refuses a call of a group whose own deadline is over', async () => {
  let notAfter = Date.now() + 60_000;
  store.known.clock = { after: () => notAfter, reportTooLate: () => undefined };
  const inTime = codeOf(create());
  notAfter = 1_000_000_000_000;
  const turn = { settle: [], poll: { count: 1, names: [] }, refusalOf: () => null };
  const late = [
    codeOf(create()),
    codeOf(pollJobs(store, SPACE, { count: 1, names: [] })),
    codeOf(settleAndPoll(store, SPACE, turn)),
  ];
  notAfter = Date.now() + 60_000;
  const alsoInTime = codeOf(create());
  expect(await Promise.all([inTime, ...late, alsoInTime])).toEqual([
    'done',
    'OVERLOADED',
    'OVERLOADED',
    'OVERLOADED',
    'done',
  ]);
  expect(sent).toHaveLength(1);
});

it.each([
  ['few jobs', 1],
  ['many jobs', 4],
])('a full Redis refuses calls that store data, and lets jobs end: %s', async (_, of) => {
  const [a, b, c] = [await started(of), await started(of), await started(of, { maxRetries: 0 })];
  await createJob(alone, SPACE, request());
  await redis.config('SET', 'maxmemory', '1');
  const codes = await Promise.all([
    codeOf(create()),
    ...a.map(({ id }) => codeOf(completeJob(store, ANY_SPACE, id, { ok: true }))),
    ...b.map(({ id }) => codeOf(heartbeatJob(store, ANY_SPACE, id, { kind: 'checkpoint', data: 'far' }))),
    ...c.map(({ id }) => codeOf(failJob(store, ANY_SPACE, id, { error: 'no' }))),
    codeOf(create({ unique: { key: 'k' } })),
    codeOf(pollJobs(store, SPACE, { count: 1, names: [] })),
  ]);
  await redis.config('SET', 'maxmemory', '0');
  const each = (code: string) => Array.from({ length: of }, () => code);
  expect(codes).toEqual([
    'STORAGE_FULL',
    ...each('done'),
    ...each('STORAGE_FULL'),
    ...each('done'),
    'STORAGE_FULL',
    'done',
  ]);
  expect(sent).toHaveLength(1);
  const statuses = await Promise.all([...a, ...b, ...c].map(({ id }) => readStatus(alone, id)));
  expect(statuses).toEqual([...each('completed'), ...each('running'), ...each('dead')]);
  expect(await fsck(alone)).toEqual([]);
});

it('all calls of a group have an unknown outcome when its reply is lost, and none is retried', async () => {
  const jobs = await started(4);
  isLost = true;
  const codes = await Promise.all([
    ...jobs.map(({ id }) => codeOf(heartbeatJob(store, ANY_SPACE, id, { kind: 'event', data: 'once' }))),
    codeOf(create()),
  ]);
  expect(codes).toEqual(codes.map(() => 'UNAVAILABLE'));
  expect(sent).toHaveLength(1);
  expect(await redis.zcard(alone.keys.jobs(SPACE))).toBe(5);
  for (const { id } of jobs) expect(await redis.llen(`${alone.keys.job(id)}:events`)).toBe(3); // delivered, acked, event
});

it('a list stops at a refused job, but the other calls of its group continue', async () => {
  const key = (name: string) => packJob(SPACE, request({ name }), request({ name }));
  const keyed = { idempotencyKey: 'key', inTurn: <T>(run: () => Promise<T>) => run() };
  await createJobs(alone, SPACE, [key('a'), key('b')], keyed);
  const list = codeOf(createJobs(store, SPACE, [key('a'), key('other'), key('c')], keyed));
  expect(await Promise.all([codeOf(create()), list, codeOf(create())])).toEqual([
    'done',
    'IDEMPOTENCY_MISMATCH',
    'done',
  ]);
  expect(await redis.zcard(alone.keys.jobs(SPACE))).toBe(4);
  expect(await fsck(alone)).toEqual([]);
});

it('a poll of a group claims the jobs that earlier calls of the group created and released, oldest first', async () => {
  await started(2);
  const made = Promise.all(upTo(6).map(() => create()));
  const polls = upTo(4).map(() => pollJobs(store, SPACE, { count: 2, names: [] }));
  const claimed = (await Promise.all(polls)).flatMap(({ jobs }) => jobs.map(({ id }) => id));
  expect(sent).toHaveLength(1);
  expect(claimed).toEqual(await made);
  expect(await fsck(alone)).toEqual([]);
});

it('creates the jobs of each space in a group with orders of that space, and counts their names', async () => {
  const names = ['a', 'b', 'a', 'a', 'b'];
  const spaces = ['one', 'two', 'one', 'three'];
  const created = await Promise.all(
    spaces.flatMap((space) => names.map((name) => createJob(store, space, request({ name })))),
  );
  for (const space of new Set(spaces)) {
    const ids = created.filter(({ job }) => job.spaceId === space).map(({ job }) => job.id);
    expect(await redis.zrange(alone.keys.jobs(space), 0, -1)).toEqual(ids);
    expect(new Set(await redis.zrange(alone.keys.jobs(space), 0, -1, 'WITHSCORES')).size).toBe(2 * ids.length);
  }
  const counts = await redis.zrange(`${alone.keys.baseOfSpace('one')}space:one/names`, 0, -1, 'WITHSCORES');
  expect(counts).toEqual(['b', '4', 'a', '6']);
  expect(await fsck(alone)).toEqual([]);
});

it('a damaged set fails the calls of a group, but everything they did is stored', async () => {
  const jobs = await started(6);
  const index = alone.keys.jobsByStatus(SPACE, 'completed');
  await redis.set(index, 'not a set');
  const codes = await Promise.all(jobs.map(({ id }) => codeOf(completeJob(store, ANY_SPACE, id, null))));
  expect(codes).toEqual(jobs.map(() => expect.stringContaining('WRONGTYPE')));
  for (const { id } of jobs) {
    expect(await readStatus(alone, id)).toBe('completed');
    expect(await redis.zscore(alone.keys.jobsByStatus(SPACE, 'running'), id)).toBeNull();
  }
});

it('sends a group again when Redis has forgotten its script', async () => {
  await redis.script('FLUSH');
  expect(await Promise.all(upTo(5).map(() => codeOf(create())))).toEqual(upTo(5).map(() => 'done'));
  expect(await redis.zcard(alone.keys.jobs(SPACE))).toBe(5);
});

it('reads progress that a simultaneous call has reported', async () => {
  const [job] = await started(1);
  const beat = { kind: 'progress', data: { percent: 7, message: 'on', subProgress: null } } as never;
  await Promise.all([heartbeatJob(store, ANY_SPACE, job?.id as string, beat), create()]);
  expect(await getProgress(alone, ANY_SPACE, job?.id as string)).toMatchObject({ progress: { percent: 7 } });
});
