import { expect, it } from '@jest/globals';
import { pollRequest, type Status } from '@yardmaster/protocol';
import { createJob, jobIn, step } from '../support/jobs.js';
import { makeDue } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { idsOf, poll, untilWaiting, withApi } from './api.js';

const service = withService();
const api = withApi(service, { hasChecks: false });

let spaces = 0;
const newSpace = () => `wait-${++spaces}-${process.pid}`;

/** Prepares a job before a poll waits. @returns a function that makes the job claimable, and returns its id */
type Prepare = (spaceId: string) => Promise<() => Promise<string>>;

const whenCreated =
  (fields: Record<string, unknown>): Prepare =>
  async (spaceId) =>
  async () =>
    (await createJob(service, spaceId, fields)).id;

/** Create jobs of a name with one call, and return their ids. */
async function createMany(spaceId: string, name: string, count: number): Promise<string[]> {
  const body = Array.from({ length: count }, () => ({ name }));
  return (await service.call('POST', `/spaces/${spaceId}/jobs`, { body })).body.map(({ id }: { id: string }) => id);
}

const from =
  (status: Status, act: (id: string) => Promise<void>): Prepare =>
  async (spaceId) => {
    const id = await jobIn(service, status, spaceId, { maxRetries: 1 });
    return async () => {
      await act(id);
      return id;
    };
  };

/** Pause a space, or the name of its job, and resume it later. */
const whenResumed =
  (names: object): Prepare =>
  async (spaceId) => {
    const { id } = await createJob(service, spaceId);
    const call = async (verb: string) => {
      expect((await service.call('POST', `/spaces/${spaceId}/${verb}`, { body: names })).status).toBe(200);
    };
    await call('pause');
    return async () => {
      await call('resume');
      return id;
    };
  };

const TRIGGERS: [by: string, prepare: Prepare][] = [
  ['its creation', whenCreated({})],
  ['its creation with a priority', whenCreated({ priority: 5 })],
  ['its time', whenCreated({ delaySeconds: 0.2 })],
  ['a new time', from('scheduled', (id) => step(service, id, 'reschedule', { delaySeconds: 0 }))],
  ['a failed attempt', from('running', (id) => step(service, id, 'fail', { error: 'x' }))],
  ['its release', from('delivered', (id) => step(service, id, 'release'))],
  ['a delivery timeout', from('delivered', (id) => makeDue(service, id))],
  ['the end of a pause of its space', whenResumed({})],
  ['the end of a pause of its name', whenResumed({ names: ['work'] })],
  ['the timeout of an attempt', from('running', (id) => makeDue(service, id))],
];

it.each(TRIGGERS)('wakes a waiting poll when a job becomes claimable by %s', async (_, prepare) => {
  const spaceId = newSpace();
  const makeClaimable = await prepare(spaceId);
  const waiting = poll(api, spaceId);
  await untilWaiting(api, 1);
  const id = await makeClaimable();
  const response = await waiting;
  expect({ status: response.status, ids: idsOf(response) }).toEqual({ status: 200, ids: [id] });
});

it('a poll returns immediately if a job is pending', async () => {
  const spaceId = newSpace();
  const { id } = await createJob(service, spaceId);
  expect(idsOf(await poll(api, spaceId, { count: 10 }))).toEqual([id]);
});

it('a poll finds jobs behind more paused ones than one script reads', async () => {
  const spaceId = newSpace();
  await createMany(spaceId, 'paused', 1_000);
  const ids = await createMany(spaceId, 'work', 3);
  await service.call('POST', `/spaces/${spaceId}/pause`, { body: { names: ['paused'] } });
  const responses = await Promise.all(ids.map(() => poll(api, spaceId)));
  expect(responses.flatMap(idsOf).sort()).toEqual(ids.sort());
});

it('a poll returns the first job without waiting for more', async () => {
  const spaceId = newSpace();
  const waiting = poll(api, spaceId, { count: 50 });
  await untilWaiting(api, 1);
  const { id } = await createJob(service, spaceId);
  expect(idsOf(await waiting)).toEqual([id]);
});

it('wakes only a poll that asks for the name of the job', async () => {
  const spaceId = newSpace();
  const ofOthers = poll(api, spaceId, { types: ['crop', 'resize "x"'] });
  await untilWaiting(api, 1);
  const ofTheName = poll(api, spaceId, { name: 'größer' });
  await untilWaiting(api, 2);
  const { id } = await createJob(service, spaceId, { name: 'größer' });
  expect(idsOf(await ofTheName)).toEqual([id]);
  await untilWaiting(api, 1);
  const other = await createJob(service, spaceId, { name: 'resize "x"' });
  expect(idsOf(await ofOthers)).toEqual([other.id]);
});

it('returns jobs to waiting polls in the order in which the polls arrived', async () => {
  const spaceId = newSpace();
  const waiting: Promise<string[]>[] = [];
  for (let i = 1; i <= 5; i++) {
    waiting.push(poll(api, spaceId, { types: i % 2 ? ['work', 'other'] : [] }).then(idsOf));
    await untilWaiting(api, i);
  }
  const ids: string[][] = [];
  for (let i = 0; i < 5; i++) ids.push([(await createJob(service, spaceId)).id]);
  expect(await Promise.all(waiting)).toEqual(ids);
});

it('wakes as many polls as jobs arrive at the same time', async () => {
  const spaceId = newSpace();
  const waiting = Array.from({ length: 20 }, () => poll(api, spaceId));
  await untilWaiting(api, 20);
  const created = await Promise.all(Array.from({ length: 20 }, () => createJob(service, spaceId)));
  const claimed = (await Promise.all(waiting)).flatMap(idsOf);
  expect(claimed.sort()).toEqual(created.map(({ id }) => id).sort());
});

it.each([{}, { priority: 1 }])('wakes as many polls as a list with %j has jobs', async (options) => {
  const spaceId = newSpace();
  const waiting = Array.from({ length: 5 }, () => poll(api, spaceId));
  await untilWaiting(api, 5);
  const list = Array.from({ length: 5 }, () => ({ name: 'work', ...options }));
  const { body } = await service.call('POST', `/spaces/${spaceId}/jobs`, { body: list });
  const claimed = (await Promise.all(waiting)).flatMap(idsOf);
  expect(claimed.sort()).toEqual(body.map(({ id }: { id: string }) => id).sort());
});

it('wakes as many polls as a settle releases jobs', async () => {
  const spaceId = newSpace();
  for (let i = 0; i < 3; i++) await createJob(service, spaceId);
  const { jobs } = (await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { count: 3 } })).body;
  const waiting = Array.from({ length: 3 }, () => poll(api, spaceId));
  await untilWaiting(api, 3);
  const outcomes = jobs.map(({ id }: { id: string }) => ({ jobId: id, action: 'release' }));
  await service.call('POST', `/spaces/${spaceId}/jobs/settle`, { body: { outcomes } });
  expect((await Promise.all(waiting)).flatMap(idsOf)).toHaveLength(3);
});

it('sends no Redis request for a poll while others wait for the same names', async () => {
  const spaceId = newSpace();
  const polls = async () => {
    const { text } = await api.http.call('GET', '/metrics');
    return Number(/^yardmaster_polls_total\{outcome="empty"\} (\d+)$/m.exec(text)?.[1]);
  };
  const before = await polls();
  const waiting = [poll(api, spaceId, { types: ['work'] }), poll(api, spaceId, { types: ['other'] })];
  // Each of them when it came, and again when the channel was subscribed.
  await until(async () => (await polls()) === before + 4);
  waiting.push(poll(api, spaceId, { types: ['other', 'work'] }));
  await untilWaiting(api, 3);
  expect(await polls()).toBe(before + 4);
  for (const name of ['work', 'work', 'other']) await createJob(service, spaceId, { name });
  expect((await Promise.all(waiting)).flatMap(idsOf)).toHaveLength(3);
});

it('a waiting poll returns no jobs after its time', async () => {
  const { status, body } = await poll(api, newSpace(), { waitSeconds: 0.05 });
  expect({ status, body }).toEqual({ status: 200, body: { jobs: [] } });
});

it('serves other calls while polls wait', async () => {
  const spaceId = newSpace();
  const waiting = poll(api, spaceId);
  await untilWaiting(api, 1);
  expect((await poll(api, spaceId, { waitSeconds: 0 })).body).toEqual({ jobs: [] });
  expect((await api.call('GET', `/spaces/${spaceId}/stats`)).status).toBe(200);
  await createJob(service, spaceId);
  expect(idsOf(await waiting)).toHaveLength(1);
});

it('removes a space from memory soon after its last poll ends', async () => {
  const channel = service.store.keys.wakeChannel(newSpace());
  const spaceId = channel.split('wake:')[1] as string;
  const waiting = poll(api, spaceId);
  await until(() => api.context.subscriptions.isSubscribed(channel));
  await createJob(service, spaceId);
  await waiting;
  await until(() => !api.context.subscriptions.isSubscribed(channel));
});

it('treats more than 20 s of waiting as 20 s, and suggests waitSeconds for a misspelling', async () => {
  expect(pollRequest.parse({ waitSeconds: 100 })).toMatchObject({ waitSeconds: 20 });
  expect(pollRequest.parse({})).toMatchObject({ waitSeconds: 0 });
  const options = { body: { waitSecond: 1 }, headers: { prefer: 'handling=strict' } };
  const { body } = await api.call('POST', '/spaces/any/jobs/poll', options);
  expect(body.error).toBe('unknown field waitSecond, did you mean waitSeconds?');
});
