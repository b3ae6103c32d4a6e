import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, type Behaviour } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import type { RunningProcess } from '../support/process.js';
import { type Received, type Receiver, startReceiver } from '../support/receiver.js';
import { type Fleet, startFleet } from '../support/schedulers.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

// What may come between the POST of a callback and the record of its outcome.

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const ANSWERED = answer(204);
/** Requests that wait to be answered. */
const held: ServerResponse[] = [];
const hold: Behaviour = (response) => held.push(response);
const release = (status: number) => {
  for (const response of held.splice(0)) response.writeHead(status).end();
};

const headerOf = ({ headers }: Received, name: string) => headers.find(([each]) => each.toLowerCase() === name)?.[1];

describe('when a scheduler', () => {
  const env = { CALLBACK_SIGNING_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', CALLBACKS_PER_HOST: '1' };
  const fleets: Fleet[] = [];
  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
  });

  /** Leave one scheduler in the middle of a POST, with more callbacks waiting for their turn, and let another go on. */
  async function leaveInPost(
    name: string,
    leave: (one: RunningProcess, startOther: () => Promise<unknown>) => unknown,
  ) {
    const fleet = await startFleet({ schedulers: 0, env });
    fleets.push(fleet);
    const { service } = fleet;
    const one = await fleet.start();
    const paths = [1, 2, 3].map((n) => `/${name.replaceAll(' ', '-')}/${n}`);
    const ids: string[] = [];
    for (const path of paths) {
      const callbackUrl = receiver.script(path, path === paths[0] ? hold : ANSWERED, ANSWERED);
      ids.push(await jobIn(service, 'completed', 'left', { callbackUrl }));
      if (path === paths[0]) await until(() => receiver.requestsTo(path).length === 1);
    }
    await leave(one, fleet.start);
    for (const id of ids) await settled(service, id);
    one.child.kill('SIGCONT');
    if (one.child.signalCode === null) await until(() => one.output().includes('callback attempted'));

    const jobs = await Promise.all(ids.map((id) => readJob(service, id)));
    for (const job of jobs) expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(204)]));
    return paths.map((path) => receiver.requestsTo(path));
  }

  // At once, since each takes as long as an attempt belongs to whoever began it: 15 s.
  it('is killed or sleeps between a POST and its record, another repeats that, once, and sends what waited', async () => {
    const received = await Promise.all([
      leaveInPost('killed, another runs', async (one, startOther) => {
        await startOther();
        await one.stop('SIGKILL');
      }),
      leaveInPost('killed, another is started', async (one, startOther) => {
        await one.stop('SIGKILL');
        await startOther();
      }),
      // What it makes of its attempt once it wakes does not count any more.
      leaveInPost('sleeps', async (one, startOther) => {
        one.child.kill('SIGSTOP');
        await startOther();
      }),
    ]);
    for (const [repeated, ...others] of received) {
      expect(repeated).toHaveLength(2);
      const [before, after] = repeated as [Received, Received];
      expect(headerOf(before, 'webhook-id')).toMatch(/^msg_/);
      expect(headerOf(after, 'webhook-id')).toBe(headerOf(before, 'webhook-id'));
      expect(after.body).toEqual(before.body);
      for (const requests of others) expect(requests).toHaveLength(1);
    }
  }, 60_000);
});

describe('when Redis is away', () => {
  let redis: OwnRedis;
  let service: TestService;
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: 'always' });
    service = await startService({ CALLBACK_RETRY_DELAYS: '1' }, { redisUrl: redis.url });
  });
  afterAll(async () => {
    await service.stop();
    await redis.stop();
  });

  it.each([
    ['stopped', () => redis.halt(), async () => redis.resume()],
    // It does what it was asked meanwhile once it goes on, though nobody waits for the answers any more.
    ['hanging', async () => process.kill(redis.pid(), 'SIGSTOP'), async () => process.kill(redis.pid(), 'SIGCONT')],
  ])('and comes back, the attempt is recorded once and counts (%s)', async (name, stop, goOn) => {
    const path = `/${name}`;
    const callbackUrl = receiver.script(path, hold, ANSWERED);
    const id = await jobIn(service, 'completed', 'away', { callbackUrl });
    await until(() => receiver.requestsTo(path).length === 1);
    await stop();
    release(503);
    await delay(2_000);
    await goOn();
    await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 200);
    // Were the outcome not kept, the attempt would be repeated, and were it recorded twice, it would be shown twice.
    expect(attemptsOf(await settled(service, id))).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
    expect(receiver.requestsTo(path)).toHaveLength(2);
  });
});
