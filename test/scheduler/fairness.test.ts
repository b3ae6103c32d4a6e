import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob } from '@yardmaster/store';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runMany } from '../support/schedulers.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

const PER_HOST = 4;

let service: TestService;
let receivers: Receiver[];
beforeAll(async () => {
  service = await startService({ CALLBACKS_PER_HOST: `${PER_HOST}` });
  receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
});
afterAll(async () => {
  await service.stop();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

/** Owe callbacks of a space to this URL. */
async function owe(space: string, count: number, callbackUrl: string): Promise<string[]> {
  const ids = await runMany(service.store, space, count, { callbackUrl });
  await Promise.all(ids.map((id) => completeJob(service.store, ANY_SPACE, id, null)));
  return ids;
}
const owed = (ids: string[]) => service.redis.zcard(service.store.keys.callbacks(ids[0]?.slice(0, 2) as string));

it('a receiver that hangs holds up nobody but itself', async () => {
  const [hanging, quick] = receivers as [Receiver, Receiver];
  const held: ServerResponse[] = [];
  let isOpen = false;
  const callbackUrl = hanging.script('/hanging', (response) => {
    if (isOpen) response.end();
    else held.push(response);
  });
  const ids = await owe('hanging', 1_000, callbackUrl);
  await until(() => hanging.requestsTo('/hanging').length > 0);

  const url = quick.script('/quick', answer(204));
  const job = await settled(service, await jobIn(service, 'completed', 'quick', { callbackUrl: url }));

  expect(attemptsOf(job)).toEqual(historyOf(url, [sent(204)]));
  expect(await owed(ids)).toBeGreaterThan(900);
  // All that the one may have at once is taken, and no more.
  await until(() => hanging.requestsTo('/hanging').length >= PER_HOST);
  expect(hanging.open()).toBe(PER_HOST);

  isOpen = true;
  for (const response of held) response.end();
  await until(async () => (await owed(ids)) === 0);
  const told = hanging.requestsTo('/hanging').map(({ body }) => JSON.parse(body.toString()).jobId);
  expect(new Set(told)).toEqual(new Set(ids));
});

it('each of several receivers gets as many callbacks at once as it may, and never more', async () => {
  const open = receivers.map(() => 0);
  const most = receivers.map(() => 0);
  let mostOfAll = 0;
  const urls = receivers.map((receiver, n) =>
    receiver.script('/several', async (response) => {
      most[n] = Math.max(most[n] as number, ++(open[n] as number));
      mostOfAll = Math.max(
        mostOfAll,
        open.reduce((sum, each) => sum + each),
      );
      await delay(50);
      open[n] = (open[n] as number) - 1;
      response.end();
    }),
  );
  const ids = await Promise.all(urls.map((url, n) => owe(`several-${n}`, 60, url)));
  for (const each of ids) await until(async () => (await owed(each)) === 0);
  expect(most).toEqual(receivers.map(() => PER_HOST));
  expect(mostOfAll).toBeGreaterThan(PER_HOST);
  for (const receiver of receivers) expect(receiver.requestsTo('/several')).toHaveLength(60);
});
