import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob } from '@yardmaster/store';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { runMany } from '../support/schedulers.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

describe('callbacks to several receivers', () => {
  const PER_HOST = 4;
  const service = withService({ CALLBACKS_PER_HOST: `${PER_HOST}`, CALLBACK_ALLOW_PRIVATE: 'true' });
  const receivers = [withReceiver(), withReceiver(), withReceiver()] as const;

  /** End jobs whose callbacks go to this URL. */
  async function endMany(space: string, count: number, callbackUrl: string): Promise<string[]> {
    const ids = await runMany(service.store, space, count, { callbackUrl });
    await Promise.all(ids.map((id) => completeJob(service.store, ANY_SPACE, id, null)));
    return ids;
  }
  const unsettled = (ids: string[]) => service.redis.zcard(service.store.keys.callbacks(ids[0]?.slice(0, 2) as string));

  it('a receiver that hangs delays only its own callbacks', async () => {
    const [hanging, quick] = receivers;
    const waiting: ServerResponse[] = [];
    let isOpen = false;
    const callbackUrl = hanging.script('/hanging', (response) => {
      if (isOpen) response.end();
      else waiting.push(response);
    });
    // More than one step of the relay returns.
    const ids = await endMany('hanging', 200, callbackUrl);
    await until(() => waiting.length > 0);

    const url = quick.script('/quick', respondWith(204));
    const job = await settled(service, await jobIn(service, 'completed', 'quick', { callbackUrl: url }));

    expect(attemptsOf(job)).toEqual(historyOf(url, [sent(204)]));
    expect(await unsettled(ids)).toBe(200);
    // The host has all the connections that it may have at once, and no more.
    await until(() => waiting.length >= PER_HOST);
    expect(hanging.open()).toBe(PER_HOST);

    isOpen = true;
    for (const response of waiting) response.end();
    await until(async () => (await unsettled(ids)) === 0);
    const called = hanging.requestsTo('/hanging').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(called.sort()).toEqual(ids.sort());
  });

  it('each of several receivers gets as many concurrent callbacks as allowed, and never more', async () => {
    const waiting = receivers.map((): ServerResponse[] => []);
    let most = 0;
    const urls = receivers.map((receiver, n) =>
      receiver.script('/several', (response) => {
        waiting[n]?.push(response);
        most = Math.max(most, ...waiting.map(({ length }) => length));
        // Respond only once all receivers have the allowed number: a scheduler that sent fewer would wait forever.
        if (waiting.some(({ length }) => length < PER_HOST)) return;
        for (const responses of waiting) for (const each of responses.splice(0)) each.end();
      }),
    );
    const ids = await Promise.all(urls.map((url, n) => endMany(`several-${n}`, 5 * PER_HOST, url)));
    for (const each of ids) await until(async () => (await unsettled(each)) === 0);
    expect(most).toBe(PER_HOST);
    for (const receiver of receivers) expect(receiver.requestsTo('/several')).toHaveLength(5 * PER_HOST);
  });
});
