import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

// What a job shows of its callback (spec §6.3.4).

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

describe('the history', () => {
  it('of a job shows each attempt as an event, and nothing else of the job changes', async () => {
    let release = () => {};
    const callbackUrl = receiver.script('/held', (response) => {
      release = () => response.writeHead(500).end();
    });
    const id = await jobIn(service, 'completed', 'history', { callbackUrl });
    await until(() => receiver.requestsTo('/held').length === 1);
    const { events: eventsBefore, ...before } = await readJob(service, id);
    release();
    await until(() => receiver.requestsTo('/held').length === 2);
    release();
    const { events, ...after } = await settled(service, id);

    expect(after).toEqual(before);
    expect(before.updatedAt).toBe(before.completedAt);
    expect(eventsBefore.map(({ type }: { type: string }) => type)).toEqual([
      'created',
      'delivered',
      'acked',
      'completed',
    ]);
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const common = { jobId: id, spaceId: 'history', createdAt };
    expect(events).toEqual([
      ...eventsBefore,
      ...historyOf(callbackUrl, [sent(500, 1, true), sent(500, 2)]).map((event, i) => ({
        id: `${id}.${5 + i}`,
        ...common,
        ...event,
      })),
    ]);
  });

  it('ends with an attempt that will not be retried: nothing is owed any more', async () => {
    const owed = (id: string) => service.redis.zscore(service.store.keys.callbacks(id.slice(0, 2)), id);
    let owedMeanwhile: Promise<string | null> = Promise.resolve(null);
    let jobId = '';
    const callbackUrl = receiver.script('/owed', (response) => {
      owedMeanwhile = owed(jobId).finally(() => response.writeHead(500).end());
    });
    jobId = (await createJob(service, 'owed', { callbackUrl })).id;
    for (const verb of ['claim', 'ack', 'complete']) await service.call('POST', `/jobs/${jobId}/${verb}`);
    await settled(service, jobId);
    expect(await owedMeanwhile).toMatch(/^\d+$/);
    expect(await owed(jobId)).toBeNull();
  });

  it('is the only place that shows it: streams do not', async () => {
    const stream = await StreamClient.open(service.url, `/spaces/streams?token=${ADMIN_KEY}`);
    const callbackUrl = receiver.script('/streams', answer(204));
    const id = await jobIn(service, 'completed', 'streams', { callbackUrl });
    await settled(service, id);
    await jobIn(service, 'killed', 'streams');
    await stream.next('killed');
    expect(stream.types()).toEqual(['init', 'created', 'delivered', 'acked', 'completed', 'created', 'killed']);
    await stream.close();
  });
});
