import { describe, expect, it } from '@jest/globals';
import { byLabel, scrape } from '../../metrics/scrape.js';
import { respondWith } from '../../support/behaviours.js';
import { during } from '../../support/during.js';
import { createJob, jobIn } from '../../support/jobs.js';
import { withReceiver } from '../../support/receiver.js';
import { startCluster } from '../../support/redis/cluster.js';
import { startSentinels } from '../../support/redis/sentinels.js';
import { startTlsRedis } from '../../support/redis/tls.js';
import { makeDue } from '../../support/schedulers.js';
import { withService } from '../../support/service.js';
import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import { idsOf, poll, untilWaiting, withApi } from '../../waiting/api.js';

const KINDS: [kind: string, start: () => Promise<{ url: string; stop(): Promise<void> }>][] = [
  ['TLS with user and password', startTlsRedis],
  ['TLS with client certificates', () => startTlsRedis({ clientCertificates: true })],
  ['Sentinel with passwords', startSentinels],
  ['Sentinel over TLS', () => startSentinels({ tls: true })],
  ['a cluster with a password', startCluster],
  ['a cluster over TLS', () => startCluster({ tls: true })],
];

/** Spaces in most of the 64 partitions, and so on every node of a cluster. */
const SPACES = Array.from({ length: 100 }, (_, n) => `space-${n}`);

describe.each(KINDS)('the service on %s', (_, start) => {
  const redis = during(start, ({ stop }) => stop());
  const receiver = withReceiver();
  const service = withService({ CALLBACK_ALLOW_PRIVATE: 'true' }, { redis });

  const withoutChecks = withApi(service, { redis, hasChecks: false });

  it('the service runs jobs of most partitions from creation to completion', async () => {
    const ids = await Promise.all(
      SPACES.map(async (spaceId) => {
        const { id } = await createJob(service, spaceId);
        const { body } = await service.call('POST', `/spaces/${spaceId}/jobs/poll`);
        await service.call('POST', `/jobs/${id}/ack`);
        await service.call('POST', `/jobs/${id}/logs`, { body: ['a line'] });
        await service.call('POST', `/jobs/${id}/progress`, { body: { percent: 50, message: 'half' } });
        await service.call('POST', `/jobs/${id}/complete`, { body: { result: spaceId } });
        return { created: id, polled: body.jobs[0]?.id };
      }),
    );
    const jobs = await Promise.all(
      ids.map(async ({ created }) => (await service.call('GET', `/jobs/${created}`)).body),
    );

    expect(ids.filter(({ created, polled }) => created !== polled)).toEqual([]);
    expect(jobs.map(({ status, result }) => [status, result])).toEqual(SPACES.map((name) => ['completed', name]));
    expect(jobs[0].events.map(({ type }: { type: string }) => type)).toEqual([
      'created',
      'delivered',
      'acked',
      'progress',
      'completed',
    ]);
  });

  it('the service streams every event of jobs and spaces in order', async () => {
    const { key } = await service.key(['jobs:read']);
    const watched = SPACES.slice(0, 30).map((name) => `${name}-watched`);
    const streams = await Promise.all(
      watched.map(async (spaceId) => {
        const space = await StreamClient.open(service.url, `/spaces/${spaceId}?token=${key}`);
        const { id } = await createJob(service, spaceId);
        return { id, space, job: await StreamClient.open(service.url, `/${id}?token=${key}`) };
      }),
    );
    for (const { id } of streams)
      for (const verb of ['claim', 'ack', 'complete']) await service.call('POST', `/jobs/${id}/${verb}`);

    for (const { job, space } of streams) {
      await job.next('completed');
      await space.next('completed');
      expect(job.types()).toEqual(['init', 'delivered', 'acked', 'completed']);
      expect(space.types()).toEqual(['init', 'created', 'delivered', 'acked', 'completed']);
    }
    await Promise.all(streams.flatMap(({ job, space }) => [job.close(), space.close()]));
  });

  it('the service expires deliveries and sends callbacks', async () => {
    const url = receiver.script('/ended', respondWith(200));
    const late = await Promise.all(
      SPACES.slice(0, 20).map((spaceId) => jobIn(service, 'delivered', `${spaceId}-late`)),
    );
    await makeDue(service, ...late);
    const completed = await Promise.all(
      SPACES.slice(0, 20).map((spaceId) => jobIn(service, 'completed', `${spaceId}-completed`, { callbackUrl: url })),
    );
    await until(() => receiver.requestsTo('/ended').length === completed.length);
    for (const id of late)
      await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'pending');

    const posted = receiver.requestsTo('/ended').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(posted.sort()).toEqual([...completed].sort());
  });

  it('the service wakes waiting polls of most partitions, and calls that wait for the end of a job', async () => {
    const api = withoutChecks;
    const spaces = SPACES.slice(0, 30).map((name) => `${name}-polled`);
    const polls = spaces.map((spaceId) => poll(api, spaceId));
    await untilWaiting(api, spaces.length);
    const created = await Promise.all(spaces.map((spaceId) => createJob(service, spaceId)));
    expect((await Promise.all(polls)).map(idsOf)).toEqual(created.map(({ id }) => [id]));

    const { subscriptions } = api.context;
    const ends = created.map(({ id }) => api.call('GET', `/jobs/${id}?waitSeconds=20`));
    await until(() => created.every(({ id }) => subscriptions.isSubscribed(service.store.keys.jobChannel(id))));
    for (const { id } of created) await service.call('POST', `/jobs/${id}/kill`);
    expect((await Promise.all(ends)).map(({ body }) => body.status)).toEqual(spaces.map(() => 'killed'));
  });

  it('the service counts the jobs of a space, and shows the backlog at /metrics', async () => {
    const waiting = SPACES.slice(0, 20).map((spaceId) => `${spaceId}-waiting`);
    await Promise.all(waiting.map((spaceId) => createJob(service, spaceId)));
    const { body } = await service.call('GET', `/spaces/${waiting[0]}/stats`);
    expect(body).toMatchObject({ jobs: { pending: 1, total: 1 }, names: [{ name: 'work', total: 1, pending: 1 }] });
    await until(async () => {
      const depths = byLabel(await scrape(service), 'yardmaster_queue_depth');
      return waiting.every((spaceId) => depths[spaceId] === 1);
    });
    const shown = await scrape(service);
    expect(shown.get('yardmaster_backlog_up')).toBe(1);
    expect(Object.values(byLabel(shown, 'yardmaster_redis_connected'))).toEqual([1, 1, 1, 1]);
    expect(shown.get('yardmaster_redis_errors_total{class="other"}')).toBe(0);
  });

  it('the service closes the streams of a revoked API key', async () => {
    const { id, key } = await service.key(['jobs:read']);
    const stream = await StreamClient.open(service.url, `/spaces/any?token=${key}`);
    await service.call('DELETE', `/keys/${id}`);
    expect(await stream.end()).toMatchObject({ code: 1008 });
  });

  it('the service responds to /readyz with 200', async () => {
    expect((await service.http.call('GET', '/readyz')).status).toBe(200);
  });
});
