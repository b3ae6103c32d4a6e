import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// Which ways of a job lead to a callback (spec §6.3.1).

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

const step = (id: string, verb: string, body?: object) => service.call('POST', `/jobs/${id}/${verb}`, { body });
const run = async (id: string) => {
  await step(id, 'claim');
  await step(id, 'ack');
};

/** Statuses that the receiver has been told of at a path. */
const toldAt = (path: string) => receiver.requestsTo(path).map(({ body }) => JSON.parse(body.toString()).status);

/** Wait until a callback that was owed later than all others of the space has been sent. */
async function sentAllOf(spaceId: string): Promise<void> {
  const callbackUrl = receiver.script(`/fence-of-${spaceId}`, answer(204));
  await settled(service, await jobIn(service, 'completed', spaceId, { callbackUrl }));
}

interface Row {
  way: string;
  fields?: object;
  /** What happens to the new job. */
  happens: (id: string) => Promise<unknown>;
  status: string;
  told: string[];
}

const ROWS: Row[] = [
  { way: 'created', happens: async () => undefined, status: 'pending', told: [] },
  { way: 'delivered', happens: (id) => step(id, 'claim'), status: 'delivered', told: [] },
  { way: 'running', happens: run, status: 'running', told: [] },
  {
    way: 'completed',
    happens: async (id) => {
      await run(id);
      await step(id, 'complete', { result: 1 });
    },
    status: 'completed',
    told: ['completed'],
  },
  {
    way: 'completed twice',
    happens: async (id) => {
      await run(id);
      await Promise.all([1, 2, 3].map((result) => step(id, 'complete', { result })));
      await step(id, 'fail', { error: 'late' });
    },
    status: 'completed',
    told: ['completed'],
  },
  {
    way: 'completed, and then killed and logged to',
    happens: async (id) => {
      await run(id);
      await step(id, 'complete');
      await step(id, 'kill');
      await step(id, 'logs', ['late']);
    },
    status: 'completed',
    told: ['completed'],
  },
  {
    way: 'dead',
    fields: { maxRetries: 0 },
    happens: async (id) => {
      await run(id);
      await step(id, 'fail', { error: 'x' });
    },
    status: 'dead',
    told: ['dead'],
  },
  {
    way: 'dead after its last retry',
    fields: { maxRetries: 1 },
    happens: async (id) => {
      await run(id);
      await step(id, 'fail', { error: 'first' });
      await run(id);
      await step(id, 'fail', { error: 'second' });
    },
    status: 'dead',
    told: ['dead'],
  },
  {
    way: 'dead by its time-out',
    fields: { maxRetries: 0, timeoutSeconds: 0.01 },
    happens: async (id) => {
      await run(id);
      await until(async () => (await readJob(service, id)).status === 'dead');
    },
    status: 'dead',
    told: ['dead'],
  },
  {
    way: 'failed, to be retried',
    happens: async (id) => {
      await run(id);
      await step(id, 'fail', { error: 'x' });
    },
    status: 'pending',
    told: [],
  },
  {
    way: 'timed out, to be retried',
    fields: { timeoutSeconds: 0.01 },
    happens: async (id) => {
      await run(id);
      await until(async () => (await readJob(service, id)).status === 'pending');
    },
    status: 'pending',
    told: [],
  },
  {
    way: 'completed at a retry',
    happens: async (id) => {
      await run(id);
      await step(id, 'fail', { error: 'x' });
      await run(id);
      await step(id, 'complete');
    },
    status: 'completed',
    told: ['completed'],
  },
  { way: 'killed while pending', happens: (id) => step(id, 'kill'), status: 'killed', told: [] },
  {
    way: 'killed while running',
    happens: async (id) => {
      await run(id);
      await step(id, 'kill');
      await step(id, 'kill');
      await step(id, 'complete');
    },
    status: 'killed',
    told: [],
  },
  {
    way: 'killed while delivered',
    happens: async (id) => {
      await step(id, 'claim');
      await step(id, 'kill');
    },
    status: 'killed',
    told: [],
  },
];

describe('a job', () => {
  it.each(ROWS.map((row, i) => ({ ...row, spaceId: `way-${i}` })))(
    'that is $way tells $told',
    async ({ spaceId, fields, happens, status, told }) => {
      const callbackUrl = receiver.script(`/${spaceId}`, answer(204));
      const { id } = await createJob(service, spaceId, { callbackUrl, ...fields });
      await happens(id);
      await sentAllOf(spaceId);
      await until(() => receiver.requestsTo(`/${spaceId}`).length >= told.length);
      if (told.length > 0) await settled(service, id);

      const job = await readJob(service, id);
      expect({ status: job.status, told: toldAt(`/${spaceId}`) }).toEqual({ status, told });
      expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, told.length > 0 ? [sent(204)] : []));
    },
  );

  it('whose delivery times out tells nothing', async () => {
    const hasty = await startService({ DELIVERY_TIMEOUT_SECONDS: '0.01' });
    const callbackUrl = receiver.script('/hasty', answer(204));
    const id = await jobIn(hasty, 'delivered', 'hasty', { callbackUrl });
    await until(async () => (await readJob(hasty, id)).status === 'pending');
    await hasty.stop();
    expect(toldAt('/hasty')).toEqual([]);
  });

  it('without a callbackUrl has no callback', async () => {
    const id = await jobIn(service, 'completed', 'none');
    await sentAllOf('none');
    expect(attemptsOf(await readJob(service, id))).toEqual([]);
  });

  it('tells each of many, once', async () => {
    const callbackUrl = receiver.script('/many', answer(204));
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        jobIn(service, i % 2 === 0 ? 'completed' : 'dead', `many-${i % 7}`, { callbackUrl }),
      ),
    );
    for (const id of ids) await settled(service, id);
    const told = receiver.requestsTo('/many').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(told.sort()).toEqual(ids.sort());
  });
});
