import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, writeHistory } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { cutAll, shake } from './handshake.js';

/** §6.1, written down again on purpose: the table of the product must not be its own judge. */
const IN_PROGRESS_SCOPE: Record<string, 'with data' | 'without data' | 'withheld'> = {
  progress: 'with data',
  delivered: 'withheld',
  acked: 'withheld',
  checkpoint: 'withheld',
  event: 'withheld',
  logs_appended: 'withheld',
  completed: 'without data',
  retried: 'withheld',
  dead: 'withheld',
  killed: 'withheld',
  delivery_timeout: 'withheld',
};

/** What the table does not have is in the history only (§6.2); `created` is on space streams besides (contract §6). */
const ON_A_STREAM = Object.keys(IN_PROGRESS_SCOPE);

const ENDED = ['completed', 'dead', 'killed'];

const AUDIENCES = ['full', 'worker', 'progress', 'anonymous', 'space'] as const;
type Audience = (typeof AUDIENCES)[number];

interface Job {
  id: string;
  spaceId: string;
}

/** Something that happens to a job, and what §6.1 says of it. */
interface Step {
  type: string;
  /** Status of the job after it. */
  status: string;
  data: unknown;
  /** Make it happen. When it is not in the history, return the time of it. */
  cause(job: Job): Promise<number | undefined>;
}

let service: TestService;
const keys = { full: '', worker: '', progress: '' };

const call = (verb: string, body?: unknown) => async (job: Job) => {
  const answer = await service.call('POST', `/jobs/${job.id}/${verb}`, { body });
  if (answer.status !== 200) throw new Error(`${verb}: ${answer.text}`);
  return undefined;
};

const redisNow = async () => {
  const [seconds, micros] = await service.redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
};

/** Do to a job what a script would: for types that no endpoint causes. */
const announce =
  ({ type, status, data }: Pick<Step, 'type' | 'status' | 'data'>) =>
  async ({ id, spaceId }: Job) => {
    const { redis, store } = service;
    await writeHistory(service, id);
    const at = await redisNow();
    const entry = JSON.stringify(data === null ? [type, at] : [type, at, data]);
    const seq = 1 + (await redis.rpush(`${store.keys.job(id)}:events`, entry));
    const message = JSON.stringify({ seq, jobId: id, jobName: NAME, spaceId, type, status, data, at });
    await redis.publish(store.keys.jobChannel(id), message);
    await redis.publish(store.keys.spaceChannel(spaceId), message);
    return undefined;
  };

const NAME = 'a "job" – näme 🚂';

const claim: Step = { type: 'delivered', status: 'delivered', data: null, cause: call('claim') };
const poll: Step = {
  ...claim,
  async cause({ spaceId }) {
    const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
    expect(body.jobs).toHaveLength(1);
    return undefined;
  },
};
const ack: Step = { type: 'acked', status: 'running', data: null, cause: call('ack') };
const progress = (report: object): Step => ({
  type: 'progress',
  status: 'running',
  data: report,
  cause: call('progress', report),
});
const checkpoint = (data: unknown): Step => ({
  type: 'checkpoint',
  status: 'running',
  data,
  cause: call('checkpoint', data),
});
const event = (data: unknown): Step => ({ type: 'event', status: 'running', data, cause: call('event', data) });
const complete = (result: unknown): Step => ({
  type: 'completed',
  status: 'completed',
  data: result,
  cause: call('complete', { result }),
});
const retry = (error: unknown, attemptNumber = 1): Step => ({
  type: 'retried',
  status: 'pending',
  data: { error, attemptNumber },
  cause: call('fail', { error }),
});
/** For a job with `maxRetries: 0`. */
const die = (error: unknown): Step => ({
  type: 'dead',
  status: 'dead',
  data: { error },
  cause: call('fail', { error }),
});
const kill = (reason?: string): Step => ({
  type: 'killed',
  status: 'killed',
  data: { reason: reason ?? null },
  cause: call('kill', { reason }),
});

const silent = (type: string, status: string, data: unknown): Step => {
  const what = { type, status, data };
  return { ...what, cause: announce(what) };
};
const logsAppended = (status: string): Step => ({
  type: 'logs_appended',
  status,
  data: { fromSeq: 1, toSeq: 3, count: 3 },
  async cause(job) {
    await call('logs', ['one', 'two', 'three'])(job);
    const { body } = await service.call('GET', `/jobs/${job.id}/logs`);
    return Date.parse(body.logs[0].createdAt);
  },
});
/** Its window is long over, so the next sweep puts it back. */
const deliveryTimeout: Step = {
  type: 'delivery_timeout',
  status: 'pending',
  data: null,
  async cause({ id }) {
    const { redis, store } = service;
    await redis.zadd(`${store.keys.baseOfJob(id)}deadlines`, 'XX', 1, id);
    await until(async () => (await redis.hget(store.keys.job(id), 'status')) === 'pending');
    return undefined;
  },
};
const callback = { url: 'https://example.com/hook', attempt: 1, willRetry: false };
const callbackSent = silent('callback_sent', 'completed', { ...callback, statusCode: 204 });
const callbackFailed = silent('callback_failed', 'completed', { ...callback, error: 'no such host' });

const RUNNING = [claim, ack];
const MARKER = progress({ percent: 99.5, message: 'marker' });
/** From a status to one in which the marker can be sent; an ended job has none. */
const TO_MARKER: Record<string, Step[]> = {
  pending: [claim, ack, MARKER],
  delivered: [ack, MARKER],
  running: [MARKER],
};

interface Scene {
  what: string;
  /** What happens before the clients come. */
  before: Step[];
  /** What happens while they watch. Scenes that do not end go on to a marker. */
  live: Step[];
  maxRetries?: number | undefined;
}

const JSON_VALUES: [what: string, value: unknown][] = [
  ['null', null],
  ['a scalar', 0],
  ['an empty text', ''],
  ['an array', [1, [], {}, [null, false]]],
  ['a nested object', { z: { y: { x: [{ w: 1.5e300 }] } }, a: '' }],
  ['a key named __proto__', JSON.parse('{"b":1,"__proto__":{"isAdmin":true},"a":2}')],
  ['unicode', { 'schlüssel 🔑': 'line\u2028separator \u0000 "\\" ‮ 🚂' }],
];

const STAGES = JSON.parse(
  '{"build":{"percent":100,"message":"fertig ✓"},"__proto__":{"percent":0.5},"1":{"percent":7}}',
);

/** The first of what happens live is what each is about. */
const LIVE_SCENES: Scene[] = [
  { what: 'that a job was claimed', before: [], live: [claim] },
  { what: 'that a job was polled', before: [], live: [poll] },
  { what: 'that a job was acked', before: [claim], live: [ack] },
  { what: 'progress', before: RUNNING, live: [progress({ percent: 12.5, message: 'a part' })] },
  {
    what: 'progress with stages',
    before: RUNNING,
    live: [progress({ percent: 0, message: '0 %', subProgress: STAGES })],
  },
  {
    what: 'progress with no stage yet',
    before: RUNNING,
    live: [progress({ percent: 100, message: '…', subProgress: {} })],
  },
  { what: 'that logs were appended', before: RUNNING, live: [logsAppended('running')] },
  ...JSON_VALUES.flatMap(([what, value]) => [
    { what: `a checkpoint with ${what}`, before: RUNNING, live: [checkpoint(value)] },
    { what: `an event with ${what}`, before: RUNNING, live: [event(value)] },
    { what: `a completion with ${what}`, before: RUNNING, live: [complete(value)] },
  ]),
  { what: 'a retry with a text', before: RUNNING, live: [retry('no luck')] },
  { what: 'a retry with an object', before: RUNNING, live: [retry({ code: 7, in: ['a', 'b'] })] },
  { what: 'a second retry', before: [...RUNNING, retry('once'), ...RUNNING], live: [retry('twice', 2)] },
  { what: 'a death with a text', before: RUNNING, live: [die('no luck')], maxRetries: 0 },
  { what: 'a death with an object', before: RUNNING, live: [die({ code: 7, in: ['a', 'b'] })], maxRetries: 0 },
  { what: 'a kill of a pending job', before: [], live: [kill('stop')] },
  { what: 'a kill of a delivered job', before: [claim], live: [kill('')] },
  { what: 'a kill of a running job, with no reason', before: RUNNING, live: [kill()] },
  { what: 'a delivery time-out', before: [claim], live: [deliveryTimeout] },
  // Logs may come after the end (§3 rule 4), and show that what was published before them has been seen.
  {
    what: 'a callback that was sent',
    before: [...RUNNING, complete(1)],
    live: [callbackSent, logsAppended('completed')],
  },
  {
    what: 'a callback that failed',
    before: [...RUNNING, complete(1)],
    live: [callbackFailed, logsAppended('completed')],
  },
];

const REPORTED = [
  ...RUNNING,
  progress({ percent: 1, message: 'x' }),
  progress({ percent: 40, message: 'latest', subProgress: STAGES }),
];

const INIT_SCENES: Scene[] = [
  { what: 'pending', before: [], live: [] },
  { what: 'delivered', before: [claim], live: [] },
  { what: 'running', before: RUNNING, live: [] },
  { what: 'completed', before: [...RUNNING, complete({ secret: true })], live: [] },
  { what: 'dead', before: [...RUNNING, die('broken')], live: [], maxRetries: 0 },
  { what: 'killed', before: [kill('stop')], live: [] },
  { what: 'pending again, with progress', before: [...REPORTED, retry('once')], live: [] },
  { what: 'delivered again, with progress', before: [...REPORTED, retry('once'), claim], live: [] },
  { what: 'running with progress', before: REPORTED, live: [] },
  { what: 'completed with progress', before: [...REPORTED, complete(null)], live: [] },
  { what: 'dead with progress', before: [...REPORTED, die('broken')], live: [], maxRetries: 0 },
  { what: 'killed with progress', before: [...REPORTED, kill('stop')], live: [] },
];

/** A message as one audience should get it; none when it is withheld. */
function messagesOf(
  audience: Audience,
  { id, spaceId }: Job,
  { type, status, data }: Step,
  timestamp: string,
): object[] {
  const full = { jobId: id, jobName: NAME, type, status, data, timestamp };
  if (audience === 'space') return ON_A_STREAM.includes(type) ? [{ ...full, spaceId }] : [];
  if (audience === 'full' || audience === 'worker') return ON_A_STREAM.includes(type) ? [full] : [];
  if (IN_PROGRESS_SCOPE[type] === 'with data') return [{ jobId: id, type, data, timestamp }];
  if (IN_PROGRESS_SCOPE[type] === 'without data') return [{ jobId: id, type, timestamp }];
  return [];
}

/** The init as one audience should get it, for a job to which all that has happened. */
function initOf(audience: Audience, { id, spaceId }: Job, before: Step[], timestamp: string): object {
  if (audience === 'space') return { spaceId, type: 'init', timestamp };
  if (audience === 'full' || audience === 'worker')
    return { jobId: id, type: 'init', status: before.at(-1)?.status ?? 'pending', timestamp };
  const report = before.filter(({ type }) => type === 'progress').at(-1);
  return { jobId: id, type: 'init', timestamp, ...(report ? { progress: report.data } : {}) };
}

const isProgressScope = (audience: Audience) => audience === 'progress' || audience === 'anonymous';

/** All that one audience should get of a job: its init, and a message for each step that it may see. */
function expectedOf(audience: Audience, { job, before, watched, timestamps, joinedAt }: Play): object[] {
  // Whoever may only see that it completed, and comes later, would wait for ever (contract §6).
  const comesLate = isProgressScope(audience) && before.at(-1)?.type === 'completed';
  const from = comesLate ? before.length - 1 : before.length;
  const live = [...before, ...watched].slice(from);
  return [
    initOf(audience, job, before, joinedAt[audience]),
    ...live.flatMap((step, i) => messagesOf(audience, job, step, timestamps[from + i] as string)),
  ];
}

type ByAudience<T> = Record<Audience, T>;

async function byAudience<T>(make: (audience: Audience) => T | Promise<T>): Promise<ByAudience<T>> {
  const made = await Promise.all(AUDIENCES.map(async (audience) => [audience, await make(audience)] as const));
  return Object.fromEntries(made) as ByAudience<T>;
}

/** A scene that has been played. */
interface Play {
  job: Job;
  before: Step[];
  /** What happened while the clients were there. */
  watched: Step[];
  /** Of each step, by the history where it has it. */
  timestamps: string[];
  clients: ByAudience<StreamClient>;
  /** The timestamp in each init. */
  joinedAt: ByAudience<string>;
  /** Redis' clock before the clients came, and after. */
  from: number;
  to: number;
}

async function run(job: Job, steps: Step[]): Promise<(number | undefined)[]> {
  const times = [];
  for (const { cause } of steps) times.push(await cause(job));
  return times;
}

/** Wait until everybody has all there is: up to the marker, or to the close of a job that has ended. */
async function untilSeen({ spaceId }: Job, clients: ByAudience<StreamClient>, willClose: boolean): Promise<void> {
  const { space, ...onJob } = clients;
  for (const client of Object.values(onJob)) {
    if (willClose) await client.end();
    else await until(() => client.messages.at(-1)?.data?.message === 'marker');
  }
  const { id } = await createJob(service, spaceId);
  await until(() => space.messages.at(-1)?.jobId === id);
  space.messages.pop();
}

/** Whether the job is at its end when all has happened. */
const hasEnded = (scene: Scene) => ENDED.includes(statusAt(scene));

const statusAt = ({ before, live }: Scene) => [...before, ...live].at(-1)?.status ?? 'pending';

const pathOf = (audience: Audience, { id, spaceId }: Job) => {
  if (audience === 'anonymous') return `/${id}`;
  return audience === 'space' ? `/spaces/${spaceId}?token=${keys.full}` : `/${id}?token=${keys[audience]}`;
};

let spaces = 0;

/** Let it all happen while a client of each audience watches. */
async function play(scene: Scene): Promise<Play> {
  const { before, live, maxRetries } = scene;
  const spaceId = `scene-${spaces++}`;
  const { id } = await createJob(service, spaceId, { name: NAME, maxRetries });
  const job = { id, spaceId };
  const watched = [...live, ...(TO_MARKER[statusAt(scene)] ?? [])];

  const earlier = await run(job, before);
  const from = await redisNow();
  const clients = await byAudience((audience) => StreamClient.open(service.url, pathOf(audience, job)));
  try {
    const to = await redisNow();
    const times = [...earlier, ...(await run(job, watched))];
    await untilSeen(job, clients, hasEnded(scene));
    const history = (await service.call('GET', `/jobs/${id}`)).body.events.slice(1); // The first is `created`.
    const timestamps = times.map((at) => (at === undefined ? history.shift().createdAt : new Date(at).toISOString()));
    const joinedAt = await byAudience((audience) => clients[audience].messages[0].timestamp);
    return { job, before, watched, timestamps, clients, joinedAt, from, to };
  } finally {
    await byAudience((audience) => clients[audience].close());
  }
}

/** All play at once: each that ends waits for its close. Every test looks at its own. */
const plays = new Map<Scene, Promise<Play>>();

beforeAll(async () => {
  service = await startService();
  keys.full = (await service.key(['jobs:read'])).key;
  keys.worker = (await service.key(['jobs:worker'])).key;
  keys.progress = (await service.key(['jobs:read:progress'])).key;
  for (const scene of [...LIVE_SCENES, ...INIT_SCENES]) plays.set(scene, play(scene));
  await Promise.allSettled(plays.values());
});
afterAll(() => service.stop());

const clients: StreamClient[] = [];
const open = async (path: string) => {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
};
afterEach(async () => {
  cutAll();
  for (const client of clients.splice(0)) await client.close();
});

async function expectAsSpecified(scene: Scene, audience: Audience): Promise<void> {
  const played = (await plays.get(scene)) as Play;
  const { messages } = played.clients[audience];
  const expected = expectedOf(audience, played);
  expect(messages).toEqual(expected);
  // Equal to the last byte of what a worker sent, the order of its keys included.
  expect(messages.map(({ data }) => JSON.stringify(data))).toEqual(
    expected.map((message) => JSON.stringify('data' in message ? message.data : undefined)),
  );
}

const outcomeFor = (audience: Audience, type: string) => {
  if (!ON_A_STREAM.includes(type)) return 'withholds';
  const inProgressScope = IN_PROGRESS_SCOPE[type] as string;
  if (!isProgressScope(audience) || inProgressScope === 'with data') return 'shows';
  return inProgressScope === 'withheld' ? 'withholds' : 'shows without data';
};

describe.each(AUDIENCES)('a stream: %s', (audience) => {
  const live = LIVE_SCENES.map((scene) => ({
    ...scene,
    outcome: outcomeFor(audience, scene.live[0]?.type as string),
    scene,
  }));

  it.each(live)('$outcome $what', ({ scene }) => expectAsSpecified(scene, audience));

  it.each(INIT_SCENES.map((scene) => ({ ...scene, scene })))(
    'begins with where a job stands: $what',
    async ({ scene }) => {
      await expectAsSpecified(scene, audience);
      const { joinedAt, from, to } = (await plays.get(scene)) as Play;
      const timestamp = joinedAt[audience];
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(from);
      expect(Date.parse(timestamp)).toBeLessThanOrEqual(to);
    },
  );
});

/** First byte of a frame that closes (RFC 6455 §5.2). */
const CLOSE_FRAME = 0x88;

describe('the end of a job stream', () => {
  const ending = [...LIVE_SCENES, ...INIT_SCENES].filter(hasEnded);

  it.each(ending)('is 1000 with no reason after $what, for everybody', async (scene) => {
    const { clients } = (await plays.get(scene)) as Play;
    const { space, ...onJob } = clients;
    for (const { closed } of Object.values(onJob)) expect(closed).toEqual({ code: 1000, reason: '' });
    // It goes on, until its client closes it with no code.
    expect(space.closed).toEqual({ code: 1005, reason: '' });
  });

  it('comes equally long after the end, however the job ended', async () => {
    // Ended one after the other: with the same grace, the closes come in the same order.
    const ends = [die('x'), complete(1), kill(), die('x'), kill(), complete(1)];
    const jobs: Job[] = [];
    const closes: number[] = [];
    for (const [i] of ends.entries()) {
      const { id } = await createJob(service, 'order', { maxRetries: 0 });
      jobs.push({ id, spaceId: 'order' });
      await run(jobs[i] as Job, RUNNING);
      const { socket } = await shake(service.url, `/api/v1/realtime/${id}`);
      // By the frame that closes, which is alone in its packet: Node may tell of closed sockets in another order.
      socket.on('data', ([first]) => first === CLOSE_FRAME && closes.push(i));
    }

    for (const [i, { cause }] of ends.entries()) await cause(jobs[i] as Job);

    await until(() => closes.length === ends.length);
    // Among several gateways it is the same grace by several clocks.
    if (process.env.TEST_SERVICE_URL !== undefined) closes.sort();
    expect(closes).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

it('shows the birth of a job on the stream of its space only', async () => {
  const space = await open(`/spaces/birth?token=${keys.full}`);
  const { id, createdAt } = await createJob(service, 'birth', { name: NAME });
  const full = await open(`/${id}?token=${keys.full}`);
  const anonymous = await open(`/${id}`);
  // Its stream does not have it even when it is published again.
  const born = { type: 'created', status: 'pending', data: null };
  await announce(born)({ id, spaceId: 'elsewhere' });
  await run({ id, spaceId: 'birth' }, [...RUNNING, MARKER]);

  await until(() => [full, anonymous, space].every(({ messages }) => messages.at(-1)?.type === 'progress'));
  expect(space.messages[1]).toEqual({
    ...born,
    jobId: id,
    jobName: NAME,
    spaceId: 'birth',
    timestamp: createdAt,
  });
  expect(space.types()).toEqual(['init', 'created', 'delivered', 'acked', 'progress']);
  await service.redis.lpop(`${service.store.keys.job(id)}:events`); // It is in no list of ours, as fsck would say.
  expect(full.types()).toEqual(['init', 'delivered', 'acked', 'progress']);
  expect(anonymous.types()).toEqual(['init', 'progress']);
});

it('shows on each stream only its own job, or the jobs of its own space', async () => {
  const spaceIds = ['mine', 'mine:2', 'Mine'];
  const jobs = [];
  for (const spaceId of [...spaceIds, 'mine']) jobs.push({ id: await jobIn(service, 'running', spaceId), spaceId });
  const ofJob = await Promise.all(jobs.map(({ id }) => open(`/${id}?token=${keys.full}`)));
  const ofSpace = await Promise.all(spaceIds.map((spaceId) => open(`/spaces/${spaceId}?token=${keys.full}`)));
  const all = [...ofJob, ...ofSpace];

  for (let round = 0; round < 3; round++) {
    for (const [i, job] of jobs.entries()) await run(job, [event(`${round} of ${i}`)]);
  }
  for (const job of jobs) await run(job, [MARKER]);
  const isDone = ({ messages }: StreamClient) => messages.some(({ data }) => data?.message === 'marker');
  const last = (jobs.at(-1) as Job).id;
  await until(() => all.every(isDone) && all[4]?.messages.at(-1)?.jobId === last);

  const dataOf = ({ messages }: StreamClient) =>
    messages.filter(({ type }) => type === 'event').map(({ data }) => data);
  const eventsOf = (...indexes: number[]) => [0, 1, 2].flatMap((round) => indexes.map((i) => `${round} of ${i}`));
  expect(ofJob.map(dataOf)).toEqual([eventsOf(0), eventsOf(1), eventsOf(2), eventsOf(3)]);
  expect(ofSpace.map(dataOf)).toEqual([eventsOf(0, 3), eventsOf(1), eventsOf(2)]);
});

it('sends every message as a text frame', async () => {
  const id = await jobIn(service, 'running', 'frames');
  const areBinary: boolean[] = [];
  for (const path of [`/${id}`, `/${id}?token=${keys.full}`, `/spaces/frames?token=${keys.full}`]) {
    const client = StreamClient.connect(service.url, path);
    clients.push(client);
    client.ws.on('message', (_, isBinary) => areBinary.push(isBinary));
    await client.next('init');
  }
  await run({ id, spaceId: 'frames' }, [MARKER]);
  await until(() => areBinary.length === 6);
  expect(areBinary).not.toContain(true);
});
