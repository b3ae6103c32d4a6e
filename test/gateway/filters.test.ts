import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { type StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();
const open = withStreams(service);

/** Create and kill a job with each name, and return what a stream with filters shows of them. */
async function shownBy(spaceId: string, filters: string): Promise<string[]> {
  const stream = await open(`/spaces/${spaceId}?token=${ADMIN_KEY}${filters}`);
  const all = await open(`/spaces/${spaceId}?token=${ADMIN_KEY}`);
  for (const name of ['resize', 'crop', 'a&b']) {
    const { id } = await createJob(service, spaceId, { name });
    await service.call('POST', `/jobs/${id}/kill`);
  }
  await until(() => all.messages.length === 7);
  await stream.close(); // The gateway has already written to both streams, and the close is sent after that.
  return stream.messages.map(({ type, jobName = '' }) => `${type} ${jobName}`.trim());
}

it('a stream of a space shows only the jobs with the name in its query', async () => {
  expect(await shownBy('one-name', '&name=crop')).toEqual(['init', 'created crop', 'killed crop']);
});

it('a stream of a space shows the jobs with several names, which may contain any character', async () => {
  expect(await shownBy('two-names', '&name=crop&name=a%26b&type=killed')).toEqual([
    'init',
    'killed crop',
    'killed a&b',
  ]);
});

it('a stream of a space shows only the types in its query, of jobs with any name', async () => {
  expect(await shownBy('one-type', '&type=killed&type=dead')).toEqual([
    'init',
    'killed resize',
    'killed crop',
    'killed a&b',
  ]);
});

it('a stream of a space shows only its init when no job has the name in its query', async () => {
  expect(await shownBy('no-name', '&name=other')).toEqual(['init']);
});

const countsOf = ({ messages }: StreamClient) => messages.filter(({ type }) => type === 'counts');

it('a stream of a space sends counts with init and after changes, at most once per second', async () => {
  const id = await jobIn(service, 'running', 'space-counts');
  const client = await open(`/spaces/space-counts?token=${ADMIN_KEY}&counts=1&type=killed`);
  const none = { scheduled: 0, pending: 0, delivered: 0, running: 0, completed: 0, dead: 0, killed: 0 };
  expect(client.messages[0]).toEqual({
    ...{ spaceId: 'space-counts', type: 'init', timestamp: expect.any(String) },
    counts: { ...none, running: 1 },
  });
  await service.call('POST', `/jobs/${id}/event`, { body: 1 });
  for (let i = 0; i < 30; i++) await createJob(service, 'space-counts');
  await until(() => countsOf(client).at(-1)?.counts.pending === 30);
  expect(countsOf(client).at(-1)).toEqual({
    ...{ spaceId: 'space-counts', type: 'counts', timestamp: expect.any(String) },
    counts: { ...none, running: 1, pending: 30 },
  });
  const times = countsOf(client).map(({ timestamp }) => Date.parse(timestamp));
  for (const [i, at] of times.slice(1).entries()) expect(at - (times[i] as number)).toBeGreaterThanOrEqual(990);
  expect(client.types().filter((type) => type !== 'counts')).toEqual(['init']);
});

it('a stream of a space sends new counts soon after a job is deleted, even though a deletion sends no message', async () => {
  const id = await jobIn(service, 'completed', 'space-counts-emptied');
  const client = await open(`/spaces/space-counts-emptied?token=${ADMIN_KEY}&counts=1`);
  expect(client.messages[0].counts.completed).toBe(1);
  await service.call('DELETE', `/jobs/${id}`);
  await until(() => countsOf(client).at(-1)?.counts.completed === 0);
});

it('a stream of a space sends no counts without counts=1', async () => {
  const client = await open(`/spaces/space-without-counts?token=${ADMIN_KEY}&counts=0`);
  await createJob(service, 'space-without-counts');
  await client.next('created');
  expect(client.messages[0]).not.toHaveProperty('counts');
  await expect(open(`/spaces/space-without-counts?token=${ADMIN_KEY}&counts=yes`)).rejects.toThrow('no stream');
});

it('an ephemeral event reaches the streams of its job and its space, and is not stored', async () => {
  const id = await jobIn(service, 'running', 'brief');
  const { body: before } = await service.call('GET', `/jobs/${id}`);
  const clients = [
    await open(`/${id}?token=${ADMIN_KEY}`),
    await open(`/${id}?token=${ADMIN_KEY}&since=0`),
    await open(`/spaces/brief?token=${ADMIN_KEY}`),
  ];
  await until(() => clients[1]?.messages.length === 3);
  const history = () => service.redis.exists(`${service.store.keys.job(id)}:events`);
  expect(await history()).toBe(0); // It follows from the record, and any further event would begin a list.
  const { status } = await service.call('POST', `/jobs/${id}/event?ephemeral=true`, { body: { line: 1 } });
  expect(status).toBe(200);
  for (const client of clients) {
    const message = await client.next('event');
    expect(message).toMatchObject({ jobId: id, status: 'running', data: { line: 1 } });
    expect(message).not.toHaveProperty('seq');
  }
  const { body: after } = await service.call('GET', `/jobs/${id}`);
  expect([after.events, await history()]).toEqual([before.events, 0]);
  expect((await service.call('POST', `/jobs/${id}/event?ephemeral=false`, { body: 1 })).status).toBe(200);
  expect((await service.call('GET', `/jobs/${id}`)).body.events).toHaveLength(before.events.length + 1);
  expect((await service.call('POST', `/jobs/${id}/event?ephemeral=1`)).body.error).toBe(
    'ephemeral must be true or false',
  );
});
