import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob, getJob, partitionOf } from '@yardmaster/store';
import { answer } from '../support/behaviours.js';
import { settled } from '../support/callbacks.js';
import type { RunningProcess } from '../support/process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Fleet, runMany, startFleet } from '../support/schedulers.js';
import { until } from '../support/until.js';

let receiver: Receiver;
let fleet: Fleet;
beforeEach(async () => {
  receiver = await startReceiver();
  fleet = await startFleet({ schedulers: 0 });
});
afterEach(async () => {
  await fleet.stop();
  await receiver.close();
});

/** How often each event happened to a job of these. */
async function countEvents(ids: string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const id of ids) {
    const { events } = await getJob(fleet.service.store, ANY_SPACE, id);
    for (const { type } of events.slice(1)) counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}

const inStatus = (space: string, status: 'pending' | 'running') =>
  fleet.service.redis.zcard(fleet.service.store.keys.jobsByStatus(space, status));

it('three schedulers meet each deadline and send each callback once', async () => {
  await Promise.all([fleet.start(), fleet.start(), fleet.start()]);
  const silent = await runMany(fleet.service.store, 'silent', 1_000, { timeoutSeconds: 0.5 });
  const callbackUrl = receiver.script('/', answer(204));
  const spaces = ['told-1', 'told-2', 'told-3'];
  const told = (
    await Promise.all(spaces.map((space) => runMany(fleet.service.store, space, 100, { callbackUrl })))
  ).flat();
  await Promise.all(told.map((id) => completeJob(fleet.service.store, ANY_SPACE, id, null)));

  await until(async () => (await inStatus('silent', 'pending')) === 1_000);
  for (const id of told) await settled(fleet.service, id);

  expect(await countEvents(silent)).toEqual({ delivered: 1_000, acked: 1_000, retried: 1_000 });
  expect(await countEvents(told)).toEqual({ delivered: 300, acked: 300, completed: 300, callback_sent: 300 });
  const posted = receiver.requestsTo('/').map(({ body }) => JSON.parse(body.toString()).jobId);
  expect(posted.sort()).toEqual(told.sort());
});

it('the others carry on when one is killed in a sweep', async () => {
  const schedulers = await Promise.all([fleet.start(), fleet.start(), fleet.start()]);
  const signal = (name: NodeJS.Signals) => schedulers.map(({ child }) => child.kill(name));
  const { redis, store } = fleet.service;
  const deadlines = store.keys.deadlines(partitionOf('silent'));
  const count = 6_000;
  const silent = await runMany(store, 'silent', count);
  // All due at once, so that a sweep takes 60 steps.
  await redis.zadd(deadlines, ...silent.flatMap((id) => [1, id]));
  // After four steps of three processes, one has done two, and so has told of the first.
  await until(async () => (await redis.zcard(deadlines)) <= count - 400);
  signal('SIGSTOP');
  const isSweeping = ({ output }: RunningProcess) => output().includes('deadlines met');
  await until(() => schedulers.some(isSweeping));
  const left = await redis.zcard(deadlines);
  expect(left).toBeGreaterThan(0);
  await schedulers.find(isSweeping)?.stop('SIGKILL');
  signal('SIGCONT');

  await until(async () => (await inStatus('silent', 'pending')) === count);
  expect(await countEvents(silent)).toEqual({ delivered: count, acked: count, retried: count });
});
