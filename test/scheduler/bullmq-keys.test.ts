import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent } from '../support/callbacks.js';
import { keysOf } from '../support/fsck.js';
import { jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Fleet, startFleet } from '../support/schedulers.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';

let receiver: Receiver;
/** One scheduler alone, and three at once, each with jobs of their own. */
let fleets: Fleet[];
beforeAll(async () => {
  receiver = await startReceiver();
  fleets = await Promise.all(
    [1, 3].map((schedulers) => startFleet({ schedulers, env: { CALLBACK_RETRY_DELAYS: '0.5' } })),
  );
});
afterAll(async () => {
  await Promise.all(fleets.map((fleet) => fleet.stop()));
  await receiver.close();
});

/** After the end of a fault nothing may be late by more than 5 s; the rest is for a busy machine. */
const LATE_AT_MOST_MS = 8_000;

/** Keys of BullMQ's by what they hold: in their names, the ids of jobs and the times are left out. */
async function kindsOf({ redis, store }: TestService): Promise<Map<string, string[]>> {
  const kinds = new Map<string, string[]>();
  for (const key of await keysOf(redis, store.keys.bull)) {
    const kind = key.slice(store.keys.bull.length + 1).replace(/[0-9a-f]{2}[a-z2-7]{26}-\d+|\d{13}/g, '*');
    kinds.set(kind, [...(kinds.get(kind) ?? []), key]);
  }
  return kinds;
}

interface Work {
  service: TestService;
  path: string;
  /** A completed job, whose callback waits for its retry. */
  told: string;
  /** A running job, whose worker is silent. */
  silent: string;
}

let works = 0;
async function makeWork({ service }: Fleet): Promise<Work> {
  const path = `/${++works}`;
  const callbackUrl = receiver.script(path, answer(503), answer(204));
  const told = await jobIn(service, 'completed', 'keys', { callbackUrl });
  await until(async () => attemptsOf(await readJob(service, told)).length === 1);
  const silent = await jobIn(service, 'running', 'keys', { timeoutSeconds: 0.3 });
  return { service, path, told, silent };
}

/** Milliseconds between the last two events of a job. */
const lastStep = ({ events }: { events: { createdAt: string }[] }) =>
  Date.parse(events.at(-1)?.createdAt as string) - Date.parse(events.at(-2)?.createdAt as string);

async function expectDone({ service, path, told, silent }: Work): Promise<void> {
  await until(async () => (await readJob(service, silent)).status === 'pending', 15_000);
  await until(async () => attemptsOf(await readJob(service, told)).length === 2, 15_000);
  const timedOut = await readJob(service, silent);
  expect(timedOut.events.map(({ type }: { type: string }) => type)).toEqual([
    'created',
    'delivered',
    'acked',
    'retried',
  ]);
  expect(lastStep(timedOut)).toBeLessThan(300 + LATE_AT_MOST_MS);
  const sentTwice = await readJob(service, told);
  expect(attemptsOf(sentTwice)).toEqual(historyOf(sentTwice.callbackUrl, [sent(503, 1, true), sent(204, 2)]));
  expect(lastStep(sentTwice)).toBeLessThan(600 + LATE_AT_MOST_MS);
  expect(receiver.requestsTo(path)).toHaveLength(2);
}

it('everything is done once and in time, whatever kind of key BullMQ has lost', async () => {
  const lost = new Map<string, string[]>();
  for (;;) {
    const waiting = await Promise.all(fleets.map(makeWork));
    const kinds = await Promise.all(waiting.map(({ service }) => kindsOf(service)));
    const next = kinds.flatMap((each) => [...each.keys()]).find((kind) => !lost.has(kind));
    if (next === undefined) break;
    const gone = waiting.map(({ service }, i) => service.redis.del(kinds[i]?.get(next) ?? ['none']));
    await Promise.all(gone);
    const outcomes = await Promise.allSettled(waiting.map(expectDone));
    lost.set(
      next,
      outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason.message)] : [])),
    );
  }
  expect(lost.size).toBeGreaterThan(10);
  expect([...lost].filter(([, faults]) => faults.length > 0)).toEqual([]);
}, 120_000);
