import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  fullMessage,
  isStreamType,
  progressMessage,
  spaceMessage,
  streamMessage,
  streamMessageSchema,
} from '@yardmaster/protocol';
import { readSince, redisNow } from '@yardmaster/store';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { AGREE_WITH_LIST } from '../../support/job-state.js';
import { createJob, jobIn } from '../../support/jobs.js';
import { withService } from '../../support/service.js';
import { StreamClient, withStreams } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import { type Course, expectedMessages, isProgressScope, KINDS, type Kind, outcomeFor } from './expected.js';
import { MARKER, SCENARIOS, type Scenario, statusAtFirst, TO_MARKER } from './scenarios.js';
import { announce, DELAY, event, JOB_NAME, type Job, logsAppended, RUNNING, type Step } from './steps.js';

const service = withService();
const open = withStreams(service);

const keys = { full: '', progress: '' };

type ByKind<T> = Record<Kind, T>;

/** A scenario that is over: its clients have received everything. */
interface Result extends Course {
  clients: ByKind<StreamClient>;
  /** Redis' clock before the clients connected, and after. */
  from: number;
  to: number;
}

const results = new Map<Scenario, Promise<Result>>();

beforeAll(async () => {
  keys.full = (await service.key(['jobs:read'])).key;
  keys.progress = (await service.key(['jobs:read:progress'])).key;
  // One scenario after the other, so that each is over long before the server closes its streams. All wait together for it.
  for (const scenario of SCENARIOS) {
    const result = (await runScenario(scenario))();
    result.catch(() => undefined); // The tests of the scenario report it.
    results.set(scenario, result);
  }
  await Promise.allSettled([...results.values()]);
}, 120_000);

/**
 * Run a scenario while a client of each kind watches.
 *
 * @returns a function that waits until the clients have received everything, which takes 5 s when the job has ended
 */
async function runScenario(scenario: Scenario): Promise<() => Promise<Result>> {
  const { before, live, maxRetries, fields } = scenario;
  const spaceId = `scenario-${results.size}`;
  const { id } = await createJob(service, spaceId, { name: JOB_NAME, maxRetries, ...fields });
  const job = { id, spaceId };
  const watched = [...live, ...(TO_MARKER[statusAfter(scenario)] ?? [])];

  const timesBefore = await causeAll(job, before);
  const from = await redisNow(service.store);
  const clients = await byKind((kind) => StreamClient.open(service.url, pathOf(kind, job)));
  const to = await redisNow(service.store);
  const times = [...timesBefore, ...(await causeAll(job, watched))];

  return async () => {
    await untilReceived(job, clients, scenario).finally(() => byKind((kind) => clients[kind].close()));
    const history = (await service.call('GET', `/jobs/${id}`)).body.events.slice(1); // The first is `created`.
    const timestamps = times.map((at) => (at === undefined ? history.shift().createdAt : new Date(at).toISOString()));
    return { job, first: statusAtFirst(scenario), before, watched, timestamps, clients, from, to };
  };
}

async function causeAll(job: Job, steps: Step[]): Promise<(number | undefined)[]> {
  const times = [];
  for (const { cause } of steps) times.push(await cause(job, service));
  return times;
}

/** Wait until every client has all messages: up to the marker, or to the close for a job that has ended. */
async function untilReceived({ spaceId }: Job, clients: ByKind<StreamClient>, scenario: Scenario): Promise<void> {
  const { space, ...onJob } = clients;
  // In the order of KINDS. At the close of the first, the others have received everything.
  for (const [kind, client] of Object.entries(onJob)) {
    if (isHidden(kind as Kind, scenario)) continue;
    if (hasEnded(scenario)) await client.end();
    else await until(() => client.messages.at(-1)?.data?.message === 'marker');
  }
  const { id } = await createJob(service, spaceId);
  await until(() => space.messages.at(-1)?.jobId === id);
  space.messages.pop();
}

async function byKind<T>(make: (kind: Kind) => T | Promise<T>): Promise<ByKind<T>> {
  const made = await Promise.all(KINDS.map(async (kind) => [kind, await make(kind)] as const));
  return Object.fromEntries(made) as ByKind<T>;
}

const pathOf = (kind: Kind, { id, spaceId }: Job) => {
  if (kind === 'anonymous') return `/${id}`;
  return kind === 'space' ? `/spaces/${spaceId}?token=${keys.full}` : `/${id}?token=${keys[kind]}`;
};

/** Return the status of the job after all steps of a scenario. */
const statusAfter = (scenario: Scenario) =>
  [...scenario.before, ...scenario.live].at(-1)?.status ?? statusAtFirst(scenario);

const hasEnded = (scenario: Scenario) => ['completed', 'dead', 'killed'].includes(statusAfter(scenario));

/** Whether the stream must not show the end of the job. It stays open for up to a minute, too long for a test. */
const isHidden = (kind: Kind, scenario: Scenario) =>
  isProgressScope(kind) && hasEnded(scenario) && statusAfter(scenario) !== 'completed';

const STREAMS: { kind: Kind; stream: string }[] = [
  { kind: 'full', stream: 'a job stream with jobs:read' },
  { kind: 'progress', stream: 'a job stream with jobs:read:progress' },
  { kind: 'anonymous', stream: 'a job stream without a token' },
  { kind: 'space', stream: 'a space stream' },
];

const SCHEMAS = { full: fullMessage, progress: progressMessage, anonymous: progressMessage, space: spaceMessage };

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const isMessage = ajv.compile(streamMessageSchema());

/** Operations of the AsyncAPI document. */
const OPERATIONS: ByKind<string> = {
  full: 'sendJobEvents',
  progress: 'sendJobProgress',
  anonymous: 'sendJobProgress',
  space: 'sendSpaceEvents',
};

/** Return a check of the messages that the AsyncAPI document lists for a kind of stream. */
async function documentedMessage(kind: Kind) {
  const { body: document } = await service.http.call('GET', '/api/v1/asyncapi.json');
  const id = (ref: { $ref: string }) => ref.$ref.split('/').at(-1);
  const oneOf = document.operations[OPERATIONS[kind]].messages.map((message: { $ref: string }) => ({
    $ref: `#/components/schemas/${id(document.components.messages[id(message) as string].payload)}`,
  }));
  return ajv.compile({ ...document, oneOf });
}

describe.each(STREAMS)('$stream', ({ kind, stream }) => {
  const rows = SCENARIOS.map((scenario) => {
    const type = scenario.live[0]?.type;
    const outcome = type === undefined ? 'begins with the state of a job that is' : outcomeFor(kind, type);
    return { scenario, what: scenario.what, outcome };
  });

  it.each(rows)(`${stream} $outcome $what`, async ({ scenario }) => {
    const result = (await results.get(scenario)) as Result;
    const { messages } = result.clients[kind];
    const { timestamp } = messages[0];
    const expected = expectedMessages(kind, result, timestamp);
    expect(messages).toEqual(expected);
    // The data must equal what a worker sent to the last byte, the order of its keys included.
    expect(messages.map(({ data }) => JSON.stringify(data))).toEqual(
      expected.map((message) => JSON.stringify('data' in message ? message.data : undefined)),
    );
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(result.from);
    expect(Date.parse(timestamp)).toBeLessThanOrEqual(result.to);
  });

  it(`${stream} sends only documented messages, which the protocol schemas accept unchanged`, async () => {
    const isDocumented = await documentedMessage(kind);
    for (const { clients } of await Promise.all(results.values())) {
      const { messages } = clients[kind];
      expect(messages.filter((message) => !isDocumented(message))).toEqual([]);
      for (const schema of [SCHEMAS[kind], streamMessage])
        expect(messages.map((message) => schema.parse(message))).toEqual(messages);
      expect(messages.filter((message) => !isMessage(message))).toEqual([]);
    }
  });
});

it.each(SCENARIOS)('events read from the history equal the published ones: $what', async (scenario) => {
  const { job, clients } = (await results.get(scenario)) as Result;
  const { events } = await readSince(service.store, job.id, 2);
  const read = events.filter(({ type }) => isStreamType(type));
  const published = clients.space.messages.filter(({ type }) => type !== 'init' && type !== 'logs_appended');
  expect(read.slice(read.length - published.length).map(({ seq: _, at, ...message }) => ({ ...message, at }))).toEqual(
    published.map(({ timestamp, ...message }) => ({ ...message, at: Date.parse(timestamp) })),
  );
});

it.each(SCENARIOS.filter(hasEnded))(
  'closes every job stream that shows the end of its job with 1000 and no reason: $what',
  async (scenario) => {
    const { clients } = (await results.get(scenario)) as Result;
    const { space, ...onJob } = clients;
    for (const [kind, { closed }] of Object.entries(onJob)) {
      // A stream whose end is hidden was still open, and its client closed it, unless its random time was short.
      const codes = isHidden(kind as Kind, scenario) ? [1000, 1005] : [1000];
      expect(closed?.reason).toBe('');
      expect(codes).toContain(closed?.code);
    }
    // A space stream stays open until its client closes it without a code.
    expect(space.closed).toEqual({ code: 1005, reason: '' });
  },
);

it('unsubscribes from the channels of jobs that have ended once it has closed their streams', async () => {
  const all = await Promise.all(results.values());
  const channels = all.map(({ job }) => service.store.keys.jobChannel(job.id));
  const subscribers = async (channel: string) =>
    ((await service.redis.call('PUBSUB', 'NUMSUB', channel)) as [string, number])[1];
  for (const channel of channels) await until(async () => (await subscribers(channel)) === 0);
});

it('shows the creation of a job on the stream of its space only', async () => {
  const space = await open(`/spaces/birth?token=${keys.full}`);
  const { id, createdAt } = await createJob(service, 'birth', { name: JOB_NAME });
  const full = await open(`/${id}?token=${keys.full}`);
  const anonymous = await open(`/${id}`);
  // The stream of the job does not show it even when it is published again.
  const created = { type: 'created', status: 'pending', data: null };
  await announce(created)({ id, spaceId: 'elsewhere' }, service);
  await causeAll({ id, spaceId: 'birth' }, [...RUNNING, MARKER]);

  await until(() => [full, anonymous, space].every(({ messages }) => messages.at(-1)?.type === 'progress'));
  expect(space.messages[1]).toEqual({
    ...created,
    jobId: id,
    jobName: JOB_NAME,
    spaceId: 'birth',
    timestamp: createdAt,
  });
  expect(spaceMessage.parse(space.messages[1])).toEqual(space.messages[1]);
  expect(space.types()).toEqual(['init', 'created', 'delivered', 'acked', 'progress']);
  // fsck would report the entry of `created`.
  await service.redis.lpop(`${service.store.keys.job(id)}:events`);
  await service.redis.eval(AGREE_WITH_LIST, 1, service.store.keys.job(id));
  expect(full.types()).toEqual(['init', 'delivered', 'acked', 'progress']);
  expect(anonymous.types()).toEqual(['init', 'progress']);
});

it('shows the creation of a scheduled job on the stream of its space', async () => {
  const space = await open(`/spaces/later?token=${keys.full}`);
  await createJob(service, 'later', DELAY);
  expect(await space.next('created')).toMatchObject({ status: 'scheduled', data: null });
});

it('shows on each stream only its own job, or the jobs of its own space', async () => {
  const spaceIds = ['mine', 'mine:2', 'Mine'];
  const jobs: Job[] = [];
  for (const spaceId of [...spaceIds, 'mine']) jobs.push({ id: await jobIn(service, 'running', spaceId), spaceId });
  const ofJob = await Promise.all(jobs.map(({ id }) => open(`/${id}?token=${keys.full}`)));
  const ofSpace = await Promise.all(spaceIds.map((spaceId) => open(`/spaces/${spaceId}?token=${keys.full}`)));

  for (let n = 0; n < 3; n++) {
    for (const job of jobs) await causeAll(job, [event(n), logsAppended('running')]);
  }
  for (const job of jobs) await causeAll(job, [MARKER]);
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
