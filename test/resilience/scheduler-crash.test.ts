import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob, getJob, partitionOf, redisNow } from '@yardmaster/store';
import { type Behaviour, respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import type { RunningProcess } from '../support/process.js';
import { type Received, withReceiver } from '../support/receiver.js';
import { type Fleet, makeDue, runMany, withFleet } from '../support/schedulers.js';
import { until } from '../support/until.js';

// Schedulers that are killed, paused or stopped, or lose Redis while they work.

const receiver = withReceiver();
const NO_CONTENT = respondWith(204);
/** Responses that the test has not sent yet. */
const openResponses: ServerResponse[] = [];
const keepOpen: Behaviour = (response) => openResponses.push(response);
const respond = (status: number) => {
  for (const response of openResponses.splice(0)) response.writeHead(status).end();
};

const env = {
  CALLBACK_SIGNING_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  CALLBACKS_PER_HOST: '1',
  CALLBACK_RETRY_DELAYS: '1',
  SHUTDOWN_SECONDS: '6',
};

/** Complete jobs. The attempt at the first callback is in progress, and the others wait in the scheduler. */
async function keepFirstOpen(
  { service }: Fleet,
  name: string,
  others: number,
): Promise<{ ids: string[]; paths: string[] }> {
  const paths = Array.from({ length: 1 + others }, (_, n) => `/${name}/${n}`);
  const ids: string[] = [];
  for (const [n, path] of paths.entries()) {
    const callbackUrl = receiver.script(path, n === 0 ? keepOpen : NO_CONTENT, NO_CONTENT);
    ids.push(await jobIn(service, 'completed', name, { callbackUrl }));
    await until(() => receiver.requestsTo(paths[0] as string).length === 1);
  }
  // Callbacks that were relayed are in the dispatcher of the scheduler.
  const callbacks = service.store.keys.callbacks(ids[0]?.slice(0, 2) as string);
  await until(async () => (await service.redis.zcount(callbacks, 0, await redisNow(service.store))) === 0);
  return { ids, paths };
}

describe('several schedulers', () => {
  const fleet = withFleet({ schedulers: 0, env });
  const running: RunningProcess[] = [];
  const start = async () => {
    const scheduler = await fleet.start();
    running.push(scheduler);
    return scheduler;
  };
  afterEach(async () => {
    for (const scheduler of running.splice(0)) await scheduler.stop();
  });

  /** How often each event has happened to these jobs after their creation. */
  async function countEvents(ids: string[]): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const id of ids) {
      const { events } = await getJob(fleet.service.store, ANY_SPACE, id);
      for (const { type } of events.slice(1)) counts[type] = (counts[type] ?? 0) + 1;
    }
    return counts;
  }

  it('several schedulers send each callback and expire each deadline once, even if one is killed during a sweep', async () => {
    const schedulers = await Promise.all([start(), start(), start()]);
    const { service } = fleet;
    const { store } = service;
    const callbackUrl = receiver.script('/three', NO_CONTENT);
    const called = await runMany(store, 'called', 150, { callbackUrl });
    await Promise.all(called.map((id) => completeJob(store, ANY_SPACE, id, null)));
    for (const id of called) await settled(service, id);
    expect(await countEvents(called)).toEqual({ delivered: 150, acked: 150, completed: 150, callback_sent: 150 });
    const posted = receiver.requestsTo('/three').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(posted.sort()).toEqual([...called].sort());

    const expectRetriedOnce = async (ids: string[]) => {
      const pending = store.keys.jobsByStatus('silent', 'pending');
      await until(async () => (await service.redis.zcard(pending)) === ids.length);
      const count = ids.length;
      expect(await countEvents(ids)).toEqual({ delivered: count, acked: count, retried: count });
    };
    const silent = await runMany(store, 'silent', 3_000); // A sweep expires 100 at a time.
    const deadlines = store.keys.deadlines(partitionOf('silent'));
    await service.redis.zadd(deadlines, 'XX', ...silent.flatMap((id) => [1, id])); // All due at once.
    const hasSwept = ({ output }: RunningProcess) => output().includes('deadlines expired');
    await until(() => schedulers.some(hasSwept));
    for (const { child } of schedulers) child.kill('SIGSTOP');
    await schedulers.find(hasSwept)?.stop('SIGKILL');
    const left = await service.redis.zcount(deadlines, 1, 1);
    for (const { child } of schedulers) child.kill('SIGCONT');
    expect(left).toBeGreaterThan(0); // The other schedulers must expire the rest.
    await expectRetriedOnce(silent);
    const [later] = (await runMany(store, 'later', 1)) as [string];
    await makeDue(service, later);
    await until(async () => (await countEvents([later])).retried === 1);
  });

  it('several schedulers repeat attempts of a killed or paused one once, and send the callbacks that waited there', async () => {
    const killed = await start();
    const first = await keepFirstOpen(fleet, 'killed', 2);
    const asleep = await start(); // It already runs when the other is killed.
    await killed.stop('SIGKILL');
    const second = await keepFirstOpen(fleet, 'asleep', 2);
    asleep.child.kill('SIGSTOP');
    await start();
    for (const { ids, paths } of [first, second]) {
      for (const id of ids) {
        const job = await settled(fleet.service, id);
        expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(204)]));
      }
      const [repeated, ...others] = paths.map((path) => receiver.requestsTo(path));
      expect(repeated).toHaveLength(2);
      const [before, after] = repeated as [Received, Received];
      const webhookId = ({ headers }: Received) => headers.find(([name]) => name.toLowerCase() === 'webhook-id')?.[1];
      expect(webhookId(before)).toMatch(/^msg_/);
      expect([webhookId(after), after.body]).toEqual([webhookId(before), before.body]);
      for (const requests of others) expect(requests).toHaveLength(1);
    }
    // Its own outcome, once it continues, does not count any more.
    asleep.child.kill('SIGCONT');
    await until(() => asleep.output().includes('callback attempted'));
    const job = await readJob(fleet.service, second.ids[0] as string);
    expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(204)]));
  });

  it('schedulers that stop finish and record their attempts, and leave waiting callbacks to others', async () => {
    const { service } = fleet;
    const stopped = await start();
    const { ids, paths } = await keepFirstOpen(fleet, 'stopped', 3);
    // The longest time until the relay returns a callback that is long overdue.
    const later = (await redisNow(service.store)) + 300_000;
    for (const id of ids.slice(1))
      await service.redis.zadd(service.store.keys.callbacks(id.slice(0, 2)), 'XX', later, id);

    const ended = stopped.stop();
    await until(() => stopped.output().includes('stopping'));
    respond(204);
    expect(await ended).toBe(0);
    const job = await readJob(service, ids[0] as string);
    expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, [sent(204)]));

    await start();
    for (const id of ids.slice(1)) expect(attemptsOf(await settled(service, id))).toMatchObject([sent(204)]);
    for (const path of paths) expect(receiver.requestsTo(path)).toHaveLength(1);
  });
});

describe.each(['stopped', 'hanging'])('scheduler while Redis is %s', (how) => {
  const redis = withRedis({ appendfsync: 'always' });
  const fleet = withFleet({ schedulers: 0, env: { ...env, REDIS_TIMEOUT_SECONDS: '1.5' }, redis });
  const beginOutage = () => (how === 'stopped' ? redis.halt() : process.kill(redis.pid(), 'SIGSTOP'));
  const endOutage = () => (how === 'stopped' ? redis.resume() : process.kill(redis.pid(), 'SIGCONT'));

  it(`a scheduler keeps the outcome of an attempt until a ${how} Redis has stored it exactly once`, async () => {
    const { service } = fleet;
    const scheduler = await fleet.start();
    const callbackUrl = receiver.script(`/${how}`, keepOpen, NO_CONTENT);
    const id = await jobIn(service, 'completed', 'away', { callbackUrl });
    await until(() => receiver.requestsTo(`/${how}`).length === 1);
    await beginOutage();
    respond(503);
    await delay(3_000); // Longer than the time-out of a command.
    // A hanging Redis executes pending commands when it continues, although no client waits for the replies any more.
    await endOutage();
    await until(async () => (await service.call('GET', `/jobs/${id}`)).status === 200);
    // A lost outcome would repeat the attempt; an outcome that is recorded twice would appear twice.
    const attempts = attemptsOf(await settled(service, id));
    expect(attempts).toEqual(historyOf(callbackUrl, [sent(503, 1, true), sent(204, 2)]));
    expect(receiver.requestsTo(`/${how}`)).toHaveLength(2);
    await scheduler.stop();
  });

  it(`a scheduler stops within SHUTDOWN_SECONDS while Redis is ${how}`, async () => {
    const stopped = await fleet.start();
    await keepFirstOpen(fleet, `${how}-stop`, 2);
    await beginOutage();
    try {
      expect(await stopped.stop()).toBe(0); // It would exit with 1 after a longer stop.
      expect(stopped.output()).not.toContain('stop took too long');
    } finally {
      await endOutage();
    }
  });
});
