import { expect, it } from '@jest/globals';
import { movedBy } from '../metrics/scrape.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { type StreamClient, withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { itemOf, poll, settle, single, tokenFor } from './settle.js';

const service = withService();
const open = withStreams(service);

const ACTIONS = ['progress', 'checkpoint', 'event', 'keepalive', 'complete'] as const;

/** Start the attempts of jobs, and end them, by single calls. */
async function bySingleCalls(ids: string[]): Promise<void> {
  for (const id of ids) await service.call('POST', `/jobs/${id}/claim`);
  for (const id of ids) {
    const token = await tokenFor(service, id, '0.0');
    for (const action of ['ack', ...ACTIONS] as const) await single(service, id, action, token);
  }
}

/** Do the same with a poll, and with calls that settle few outcomes of one job, or many of several jobs. */
async function byTurns(spaceId: string, ids: string[]): Promise<void> {
  const { jobs } = (await poll(service, spaceId, { count: ids.length })).body as {
    jobs: { id: string; deliveryToken: string }[];
  };
  const items = jobs.flatMap(({ id, deliveryToken }) =>
    (['ack', ...ACTIONS] as const).map((action) => itemOf(id, action, deliveryToken)),
  );
  const portion = ids.length === 1 ? 2 : 9;
  for (let i = 0; i < items.length; i += portion) await settle(service, spaceId, items.slice(i, i + portion));
}

/** Messages of a stream without what differs between twin jobs. */
function messagesOf({ messages }: StreamClient, ids: string[], spaceId: string): unknown[] {
  const text = ids.reduce((all, id, i) => all.replaceAll(id, `id-${i}`), JSON.stringify(messages));
  return JSON.parse(text.replaceAll(spaceId, 'space').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at'));
}

it.each([1, 3])('streams of %s settled jobs and of their space show the messages of single calls', async (count) => {
  const seen: unknown[][] = [];
  for (const spaceId of [`calls-${count}`, `turns-${count}`]) {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push((await createJob(service, spaceId, { name: 'größe "x"\n' })).id);
    const token = encodeURIComponent((await service.key(['jobs:read'])).key);
    const watchers = await Promise.all([
      open(`/spaces/${spaceId}?token=${token}`),
      ...ids.map((id) => open(`/${id}?token=${token}`)),
    ]);
    if (spaceId.startsWith('calls')) await bySingleCalls(ids);
    else await byTurns(spaceId, ids);
    await until(() => watchers.slice(1).every((watcher) => watcher.types().includes('completed')));
    await until(() => watchers[0]?.types().filter((type) => type === 'completed').length === count);
    seen.push(watchers.map((watcher) => messagesOf(watcher, ids, spaceId)));
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[0]?.flat().length).toBe(2 * 6 * count + 1 + count);
});

it.each([1, 7])('streams show both events of %s jobs that a poll acks', async (count) => {
  const spaceId = `acked-${count}`;
  for (let n = 0; n < count; n++) await createJob(service, spaceId);
  const token = encodeURIComponent((await service.key(['jobs:read'])).key);
  const watcher = await open(`/spaces/${spaceId}?token=${token}`);
  const { body } = await poll(service, spaceId, { count, autoAck: true });
  await until(() => watcher.types().filter((type) => type === 'acked').length === count);
  const events = watcher.messages.filter(({ type }) => type !== 'init').map(({ type, jobId }) => [type, jobId]);
  expect(events).toEqual(
    body.jobs.flatMap(({ id }: { id: string }) => [
      ['delivered', id],
      ['acked', id],
    ]),
  );
});

it.each([1, 6])('settle counts the same as single calls, for %s jobs of each action', async (count) => {
  const spaceId = 'metrics';
  const actions = ['ack', 'progress', 'complete', 'fail', 'release'] as const;
  const create = async () => {
    const ids: [(typeof actions)[number], string][] = [];
    for (const action of actions)
      for (let n = 0; n < count; n++)
        ids.push([action, await jobIn(service, action === 'ack' ? 'delivered' : 'running', spaceId)]);
    const again = await jobIn(service, 'running', spaceId);
    for (const verb of ['fail', 'claim', 'ack']) await step(service, again, verb, { error: 'x' });
    ids.push(['complete', again], ['complete', await jobIn(service, 'pending', spaceId)]);
    return ids;
  };
  const counters = ['job_transitions', 'jobs_released', 'jobs_claimed', 'unfenced_calls', 'polls'];
  const metrics = counters.map((name) => `yardmaster_${name}_total`);
  const [calls, items] = [await create(), await create()];
  const bySingle = await movedBy(service, metrics, async () => {
    for (const [action, id] of calls) await single(service, id, action);
  });
  const bySettle = await movedBy(service, metrics, () =>
    settle(
      service,
      spaceId,
      items.map(([action, id]) => itemOf(id, action)),
    ),
  );
  expect(bySettle).toEqual(bySingle);
  expect(bySingle).toMatchObject({ yardmaster_unfenced_calls_total: 1, yardmaster_jobs_released_total: count });
});
