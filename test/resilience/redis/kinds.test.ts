import { describe, expect, it } from '@jest/globals';
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

  it('the service runs jobs in most partitions from creation to completion', async () => {
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

  it('the service times out deliveries, sends callbacks, and wakes waiting calls in most partitions', async () => {
    const url = receiver.script('/ended', respondWith(200));
    const spaces = SPACES.slice(0, 20);
    const late = await Promise.all(spaces.map((spaceId) => jobIn(service, 'delivered', `${spaceId}-late`)));
    await makeDue(service, ...late);
    const polls = spaces.map((spaceId) => poll(withoutChecks, `${spaceId}-polled`));
    await untilWaiting(withoutChecks, spaces.length);
    const created = await Promise.all(spaces.map((spaceId) => createJob(service, `${spaceId}-polled`)));
    expect((await Promise.all(polls)).map(idsOf)).toEqual(created.map(({ id }) => [id]));

    const ended = spaces.map((spaceId) => jobIn(service, 'completed', spaceId, { callbackUrl: url }));
    const completed = await Promise.all(ended);
    await until(() => receiver.requestsTo('/ended').length === completed.length);
    const posted = receiver.requestsTo('/ended').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(posted.sort()).toEqual([...completed].sort());
    for (const id of late)
      await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'pending');
  });

  it('the service streams events, and closes the stream when its API key is revoked', async () => {
    const { id: keyId, key } = await service.key(['jobs:read']);
    const stream = await StreamClient.open(service.url, `/spaces/watched?token=${key}`);
    const { id } = await createJob(service, 'watched');
    for (const verb of ['claim', 'ack', 'complete']) await service.call('POST', `/jobs/${id}/${verb}`);
    await stream.next('completed');
    expect(stream.types()).toEqual(['init', 'created', 'delivered', 'acked', 'completed']);
    await service.call('DELETE', `/keys/${keyId}`);
    expect(await stream.end()).toMatchObject({ code: 1008 });
  });
});
