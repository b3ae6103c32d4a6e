import { beforeAll, describe, expect, it } from '@jest/globals';
import { redisNow } from '@yardmaster/store';
import { createJob, jobIn, writeHistory } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

/** The table of §6.1, written again on purpose, because the product's own table cannot show its own faults. */
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

/** Types in that table. Others are in the history only (§6.2), but space streams also show `created` (contract §6). */
const ON_A_STREAM = Object.keys(IN_PROGRESS_SCOPE);

const ENDED = ['completed', 'dead', 'killed'];

/** The kinds of streams by what they show. tokens.test.ts tests which token has which scope. */
const AUDIENCES = ['full', 'progress', 'anonymous', 'space'] as const;
type Visibility = (typeof AUDIENCES)[number];

const STREAM_OF: Record<Visibility, string> = {
  full: 'a job stream with jobs:read',
  progress: 'a job stream with jobs:read:progress',
  anonymous: 'a job stream without a token',
  space: 'a space stream',
};

interface Job {
  id: string;
  spaceId: string;
}

/** Something that happens to a job, and the message that §6.1 requires for it. */
interface Step {
  type: string;
  /** Status of the job after the step. */
  status: string;
  data: unknown;
  /** Make the step happen. Return its time when it is not in the history. */
  cause(job: Job): Promise<number | undefined>;
}

const keys = { full: '', progress: '' };

const call = (verb: string, body?: unknown) => async (job: Job) => {
  const response = await service.call('POST', `/jobs/${job.id}/${verb}`, { body });
  if (response.status !== 200) throw new Error(`${verb}: ${response.text}`);
  return undefined;
};

/** Store and publish an event as a script would, for types that no endpoint causes. */
const announce =
  ({ type, status, data }: Pick<Step, 'type' | 'status' | 'data'>) =>
  async ({ id, spaceId }: Job) => {
    const { redis, store } = service;
    await writeHistory(service, id);
    const at = await redisNow(service.store);
    const entry = JSON.stringify(data === null ? [type, at] : [type, at, data]);
    const seq = 1 + (await redis.rpush(`${store.keys.job(id)}:events`, entry));
    const message = JSON.stringify({ seq, jobId: id, jobName: NAME, spaceId, type, status, data, at });
    await redis.publish(store.keys.jobChannel(id), message);
    await redis.publish(store.keys.spaceChannel(spaceId), message);
    return undefined;
  };

const NAME = 'a "job" – näme 🚂';

/** Return a step that calls an endpoint of the job. */
const step = (type: string, status: string, data: unknown, verb: string, body?: unknown): Step => ({
  type,
  status,
  data,
  cause: call(verb, body),
});
const claim = step('delivered', 'delivered', null, 'claim');
const poll: Step = {
  ...claim,
  async cause({ spaceId }) {
    const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
    expect(body.jobs).toHaveLength(1);
    return undefined;
  },
};
const ack = step('acked', 'running', null, 'ack');
const progress = (report: object) => step('progress', 'running', report, 'progress', report);
const checkpoint = (data: unknown) => step('checkpoint', 'running', data, 'checkpoint', data);
const event = (data: unknown) => step('event', 'running', data, 'event', data);
const complete = (result: unknown) => step('completed', 'completed', result, 'complete', { result });
const retry = (error: unknown, attemptNumber = 1) =>
  step('retried', 'pending', { error, attemptNumber }, 'fail', { error });
/** Return the step that makes a job dead, which must have `maxRetries: 0`. */
const die = (error: unknown) => step('dead', 'dead', { error }, 'fail', { error });
const kill = (reason?: string) => step('killed', 'killed', { reason: reason ?? null }, 'kill', { reason });
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
/** A delivery time-out: the job's window is long over, so the next sweep returns the job to the queue. */
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
/** Return a step for the outcome of a callback, which is in the history and on no stream (§6.2). */
const callbackOutcome = (type: string, fields: object): Step => {
  const data = { url: 'https://example.com/hook', attempt: 1, willRetry: false, ...fields };
  const what = { type, status: 'completed', data };
  return { ...what, cause: announce(what) };
};

const RUNNING = [claim, ack];
const MARKER = progress({ percent: 99.5, message: 'marker' });
/** Steps from a status to the marker; an ended job has none. */
const TO_MARKER: Record<string, Step[]> = {
  pending: [claim, ack, MARKER],
  delivered: [ack, MARKER],
  running: [MARKER],
};

/** Steps by which a new job with `maxRetries: 0` comes into each status. */
const TO_STATUS: Record<string, Step[]> = {
  pending: [],
  delivered: [claim],
  running: RUNNING,
  completed: [...RUNNING, complete({ secret: true })],
  dead: [...RUNNING, die('x')],
  killed: [kill()],
};

interface Scene {
  what: string;
  /** What happens before the clients come. */
  before: Step[];
  /** What happens while the clients watch. Scenes whose job does not end go on to a marker. */
  live: Step[];
  maxRetries?: number | undefined;
}

const JSON_VALUES: unknown[] = [
  null,
  0,
  '',
  [1, [], {}, [null, false]],
  { z: { y: { x: [{ w: 1.5e300 }] } }, a: '' },
  JSON.parse('{"b":1,"__proto__":{"isAdmin":true},"a":2}'),
  { 'schlüssel 🔑': 'line\u2028separator \u0000 "\\" ‮ 🚂' },
];

const STAGES = JSON.parse(
  '{"build":{"percent":100,"message":"fertig ✓"},"__proto__":{"percent":0.5},"1":{"percent":7}}',
);

/** Scenes of which each is about the first of its live steps. */
const LIVE_SCENES: Scene[] = [
  { what: 'that a job was claimed', before: [], live: [claim] },
  { what: 'that a job was polled', before: [], live: [poll] },
  { what: 'that a job was acked', before: [claim], live: [ack] },
  {
    what: 'progress without stages, with stages, and with no stage yet',
    before: RUNNING,
    live: [
      progress({ percent: 0, message: '0 %' }),
      progress({ percent: 12.5, message: 'a part', subProgress: STAGES }),
      progress({ percent: 100, message: '…', subProgress: {} }),
    ],
  },
  { what: 'checkpoints with any JSON value', before: RUNNING, live: JSON_VALUES.map(checkpoint) },
  { what: 'events with any JSON value', before: RUNNING, live: JSON_VALUES.map(event) },
  ...JSON_VALUES.map((value) => ({
    what: `a completion with ${JSON.stringify(value)}`,
    before: RUNNING,
    live: [complete(value)],
  })),
  {
    what: 'a retry with a text, and a second one with an object',
    before: RUNNING,
    live: [retry('no luck'), ...RUNNING, retry({ code: 7, in: ['a', 'b'] }, 2)],
  },
  { what: 'a death with a text', before: RUNNING, live: [die('no luck')], maxRetries: 0 },
  { what: 'a death with an object', before: RUNNING, live: [die({ code: 7, in: ['a', 'b'] })], maxRetries: 0 },
  { what: 'a kill of a pending job', before: [], live: [kill('stop')] },
  { what: 'a kill of a delivered job', before: [claim], live: [kill('')] },
  { what: 'a kill of a running job, with no reason', before: RUNNING, live: [kill()] },
  { what: 'a delivery time-out', before: [claim], live: [deliveryTimeout] },
  ...Object.entries(TO_STATUS).map(([status, before]) => ({
    what: `logs of a ${status} job`,
    before,
    live: [logsAppended(status)],
    maxRetries: 0,
  })),
  // The logs after the outcomes show that the clients have seen what was published before.
  {
    what: 'the outcomes of callbacks',
    before: [...RUNNING, complete(1)],
    live: [
      callbackOutcome('callback_sent', { statusCode: 204 }),
      callbackOutcome('callback_failed', { error: 'no such host' }),
      logsAppended('completed'),
    ],
  },
];

const REPORTED = [
  ...RUNNING,
  progress({ percent: 1, message: 'x' }),
  progress({ percent: 40, message: 'latest', subProgress: STAGES }),
];

/** Scenes of jobs with progress. LIVE_SCENES have a job in each status without progress. */
const INIT_SCENES: Scene[] = [
  { what: 'pending again, with progress', before: [...REPORTED, retry('once')], live: [] },
  { what: 'delivered again, with progress', before: [...REPORTED, retry('once'), claim], live: [] },
  { what: 'running with progress', before: REPORTED, live: [] },
  { what: 'completed with progress', before: [...REPORTED, complete(null)], live: [] },
  { what: 'dead with progress', before: [...REPORTED, die('broken')], live: [], maxRetries: 0 },
  { what: 'killed with progress', before: [...REPORTED, kill('stop')], live: [] },
];

const SCENES = [...LIVE_SCENES, ...INIT_SCENES];

/** Return the message of a step as one visibility should get it; none when it is withheld. */
function messagesOf(
  visibility: Visibility,
  { id, spaceId }: Job,
  { type, status, data }: Step,
  timestamp: string,
): object[] {
  const full = { jobId: id, jobName: NAME, type, status, data, timestamp };
  if (visibility === 'space') return ON_A_STREAM.includes(type) ? [{ ...full, spaceId }] : [];
  if (visibility === 'full') return ON_A_STREAM.includes(type) ? [full] : [];
  if (IN_PROGRESS_SCOPE[type] === 'with data') return [{ jobId: id, type, data, timestamp }];
  if (IN_PROGRESS_SCOPE[type] === 'without data') return [{ jobId: id, type, timestamp }];
  return [];
}

/** Return the init as one visibility should get it, for a job after the steps in `before`. */
function initOf(visibility: Visibility, { id, spaceId }: Job, before: Step[], timestamp: string): object {
  if (visibility === 'space') return { spaceId, type: 'init', timestamp };
  if (visibility === 'full') return { jobId: id, type: 'init', status: before.at(-1)?.status ?? 'pending', timestamp };
  const report = before.filter(({ type }) => type === 'progress').at(-1);
  return { jobId: id, type: 'init', timestamp, ...(report ? { progress: report.data } : {}) };
}

const isProgressScope = (visibility: Visibility) => visibility === 'progress' || visibility === 'anonymous';

/** Return all that one visibility should get of a job: its init, and a message for each step that it may see. */
function expectedOf(visibility: Visibility, { job, before, watched, timestamps, clients }: Play): object[] {
  // A client that may see only the completion, and comes after it, would otherwise wait for ever (contract §6).
  const comesLate = isProgressScope(visibility) && before.at(-1)?.type === 'completed';
  const from = comesLate ? before.length - 1 : before.length;
  const live = [...before, ...watched].slice(from);
  return [
    initOf(visibility, job, before, clients[visibility].messages[0].timestamp),
    ...live.flatMap((step, i) => messagesOf(visibility, job, step, timestamps[from + i] as string)),
  ];
}

type ByVisibility<T> = Record<Visibility, T>;

async function byVisibility<T>(make: (visibility: Visibility) => T | Promise<T>): Promise<ByVisibility<T>> {
  const made = await Promise.all(AUDIENCES.map(async (visibility) => [visibility, await make(visibility)] as const));
  return Object.fromEntries(made) as ByVisibility<T>;
}

/** A scene that has been played: its clients have seen everything. */
interface Play {
  job: Job;
  before: Step[];
  /** What happened while the clients were there. */
  watched: Step[];
  /** Time of each step, from the history if the history contains the step. */
  timestamps: string[];
  clients: ByVisibility<StreamClient>;
  /** Redis' clock before the clients came, and after. */
  from: number;
  to: number;
}

async function run(job: Job, steps: Step[]): Promise<(number | undefined)[]> {
  const times = [];
  for (const { cause } of steps) times.push(await cause(job));
  return times;
}

/** Wait until every client has all messages: up to the marker, or to the close for a job that has ended. */
async function untilSeen({ spaceId }: Job, clients: ByVisibility<StreamClient>, scene: Scene): Promise<void> {
  const { space, ...onJob } = clients;
  // In the order of AUDIENCES. At the close of the first, the others have all that they get.
  for (const [visibility, client] of Object.entries(onJob)) {
    if (isHidden(visibility as Visibility, scene)) continue;
    if (hasEnded(scene)) await client.end();
    else await until(() => client.messages.at(-1)?.data?.message === 'marker');
  }
  const { id } = await createJob(service, spaceId);
  await until(() => space.messages.at(-1)?.jobId === id);
  space.messages.pop();
}

/** Whether the job has ended after all steps. */
const hasEnded = (scene: Scene) => ENDED.includes(statusAt(scene));

/** Whether the stream must not show the end of the job. It stays open for up to a minute, and no test waits so long. */
const isHidden = (visibility: Visibility, scene: Scene) =>
  isProgressScope(visibility) && hasEnded(scene) && statusAt(scene) !== 'completed';

const statusAt = ({ before, live }: Scene) => [...before, ...live].at(-1)?.status ?? 'pending';

const pathOf = (visibility: Visibility, { id, spaceId }: Job) => {
  if (visibility === 'anonymous') return `/${id}`;
  return visibility === 'space' ? `/spaces/${spaceId}?token=${keys.full}` : `/${id}?token=${keys[visibility]}`;
};

/**
 * Let a scene happen while a client of each visibility watches.
 *
 * @returns a function that waits until the clients have seen it, which takes 5 s when the job has ended
 */
async function play(scene: Scene): Promise<() => Promise<Play>> {
  const { before, live, maxRetries } = scene;
  const spaceId = `scene-${plays.size}`;
  const { id } = await createJob(service, spaceId, { name: NAME, maxRetries });
  const job = { id, spaceId };
  const watched = [...live, ...(TO_MARKER[statusAt(scene)] ?? [])];

  const earlier = await run(job, before);
  const from = await redisNow(service.store);
  const clients = await byVisibility((visibility) => StreamClient.open(service.url, pathOf(visibility, job)));
  const to = await redisNow(service.store);
  const times = [...earlier, ...(await run(job, watched))];

  return async () => {
    await untilSeen(job, clients, scene).finally(() => byVisibility((visibility) => clients[visibility].close()));
    const history = (await service.call('GET', `/jobs/${id}`)).body.events.slice(1); // The first is `created`.
    const timestamps = times.map((at) => (at === undefined ? history.shift().createdAt : new Date(at).toISOString()));
    return { job, before, watched, timestamps, clients, from, to };
  };
}

const plays = new Map<Scene, Promise<Play>>();

const service = withService();
beforeAll(async () => {
  keys.full = (await service.key(['jobs:read'])).key;
  keys.progress = (await service.key(['jobs:read:progress'])).key;
  // One scene after the other, so that each is over long before the server closes its streams. All wait together for it.
  for (const scene of SCENES) {
    const played = (await play(scene))();
    played.catch(() => undefined); // The tests of the scene report it.
    plays.set(scene, played);
  }
  await Promise.allSettled([...plays.values()]);
}, 120_000);

const open = withStreams(service);

const outcomeFor = (visibility: Visibility, type: string | undefined) => {
  if (type === undefined) return 'begins with the state of a job that is';
  if (!ON_A_STREAM.includes(type)) return 'withholds';
  const inProgressScope = IN_PROGRESS_SCOPE[type] as string;
  if (!isProgressScope(visibility) || inProgressScope === 'with data') return 'shows';
  return inProgressScope === 'withheld' ? 'withholds' : 'shows without data';
};

describe.each(AUDIENCES.map((visibility) => ({ audience: visibility, stream: STREAM_OF[visibility] })))(
  '$stream',
  ({ audience: visibility }) => {
    const rows = SCENES.map((scene) => ({
      scene,
      what: scene.what,
      outcome: outcomeFor(visibility, scene.live[0]?.type),
    }));

    it.each(rows)('$outcome $what', async ({ scene }) => {
      const played = (await plays.get(scene)) as Play;
      const { messages } = played.clients[visibility];
      const expected = expectedOf(visibility, played);
      expect(messages).toEqual(expected);
      // The data must equal what a worker sent to the last byte, the order of its keys included.
      expect(messages.map(({ data }) => JSON.stringify(data))).toEqual(
        expected.map((message) => JSON.stringify('data' in message ? message.data : undefined)),
      );
      const { timestamp } = messages[0];
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(played.from);
      expect(Date.parse(timestamp)).toBeLessThanOrEqual(played.to);
    });
  },
);

describe('the end of a job stream', () => {
  it.each(SCENES.filter(hasEnded))(
    'closes every job stream that shows the end of its job with 1000 and no reason: $what',
    async (scene) => {
      const { clients } = (await plays.get(scene)) as Play;
      const { space, ...onJob } = clients;
      for (const [visibility, { closed }] of Object.entries(onJob)) {
        // A stream whose end is hidden was still open, and its client closed it, unless its random time was short.
        const codes = isHidden(visibility as Visibility, scene) ? [1000, 1005] : [1000];
        expect(closed?.reason).toBe('');
        expect(codes).toContain(closed?.code);
      }
      // A space stream goes on until its client closes it with no code.
      expect(space.closed).toEqual({ code: 1005, reason: '' });
    },
  );
});

it('unsubscribes from the channels of jobs that have ended once it has closed their streams', async () => {
  const played = await Promise.all(plays.values());
  const channels = played.map(({ job }) => service.store.keys.jobChannel(job.id));
  const subscribers = async (channel: string) =>
    ((await service.redis.call('PUBSUB', 'NUMSUB', channel)) as [string, number])[1];
  for (const channel of channels) await until(async () => (await subscribers(channel)) === 0);
});

it('shows that a job was created on the stream of its space only', async () => {
  const space = await open(`/spaces/birth?token=${keys.full}`);
  const { id, createdAt } = await createJob(service, 'birth', { name: NAME });
  const full = await open(`/${id}?token=${keys.full}`);
  const anonymous = await open(`/${id}`);
  // The stream of the job does not show it even when it is published again.
  const created = { type: 'created', status: 'pending', data: null };
  await announce(created)({ id, spaceId: 'elsewhere' });
  await run({ id, spaceId: 'birth' }, [...RUNNING, MARKER]);

  await until(() => [full, anonymous, space].every(({ messages }) => messages.at(-1)?.type === 'progress'));
  expect(space.messages[1]).toEqual({
    ...created,
    jobId: id,
    jobName: NAME,
    spaceId: 'birth',
    timestamp: createdAt,
  });
  expect(space.types()).toEqual(['init', 'created', 'delivered', 'acked', 'progress']);
  await service.redis.lpop(`${service.store.keys.job(id)}:events`); // fsck would report it.
  expect(full.types()).toEqual(['init', 'delivered', 'acked', 'progress']);
  expect(anonymous.types()).toEqual(['init', 'progress']);
});

it('shows on each stream only its own job, or the jobs of its own space', async () => {
  const spaceIds = ['mine', 'mine:2', 'Mine'];
  const jobs: Job[] = [];
  for (const spaceId of [...spaceIds, 'mine']) jobs.push({ id: await jobIn(service, 'running', spaceId), spaceId });
  const ofJob = await Promise.all(jobs.map(({ id }) => open(`/${id}?token=${keys.full}`)));
  const ofSpace = await Promise.all(spaceIds.map((spaceId) => open(`/spaces/${spaceId}?token=${keys.full}`)));

  for (let round = 0; round < 3; round++) {
    for (const job of jobs) await run(job, [event(round), logsAppended('running')]);
  }
  for (const job of jobs) await run(job, [MARKER]);
  const last = jobs.at(-1) as Job;
  const isDone = ({ messages }: StreamClient) => messages.some(({ data }) => data?.message === 'marker');
  await until(() => [...ofJob, ...ofSpace].every(isDone) && ofSpace[0]?.messages.at(-1)?.jobId === last.id);

  const shown = ({ messages }: StreamClient) =>
    messages
      .filter(({ type }) => type === 'event' || type === 'logs_appended')
      .map(({ type, jobId }) => `${type} of ${jobs.findIndex(({ id }) => id === jobId)}`);
  const threeTimes = (...indexes: number[]) =>
    [0, 1, 2].flatMap(() => indexes.flatMap((i) => [`event of ${i}`, `logs_appended of ${i}`]));
  expect(ofJob.map(shown)).toEqual([threeTimes(0), threeTimes(1), threeTimes(2), threeTimes(3)]);
  expect(ofSpace.map(shown)).toEqual([threeTimes(0, 3), threeTimes(1), threeTimes(2)]);
});
