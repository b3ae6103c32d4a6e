import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ANY_SPACE, completeJob } from '@yardmaster/store';
import { HostFairQueue } from '../../apps/scheduler/src/callbacks/fair-queue.js';
import { answer } from '../support/behaviours.js';
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
    const held: ServerResponse[] = [];
    let isOpen = false;
    const callbackUrl = hanging.script('/hanging', (response) => {
      if (isOpen) response.end();
      else held.push(response);
    });
    // More than a scheduler takes from BullMQ at once.
    const ids = await endMany('hanging', 200, callbackUrl);
    await until(() => held.length > 0);

    const url = quick.script('/quick', answer(204));
    const job = await settled(service, await jobIn(service, 'completed', 'quick', { callbackUrl: url }));

    expect(attemptsOf(job)).toEqual(historyOf(url, [sent(204)]));
    expect(await unsettled(ids)).toBe(200);
    // The host has all the connections that it may have at once, and no more.
    await until(() => held.length >= PER_HOST);
    expect(hanging.open()).toBe(PER_HOST);

    isOpen = true;
    for (const response of held) response.end();
    await until(async () => (await unsettled(ids)) === 0);
    const called = hanging.requestsTo('/hanging').map(({ body }) => JSON.parse(body.toString()).jobId);
    expect(called.sort()).toEqual(ids.sort());
  });

  it('a receiver gets as many callbacks at once as allowed while others do too, and never more', async () => {
    const held = receivers.map((): ServerResponse[] => []);
    let most = 0;
    const urls = receivers.map((receiver, n) =>
      receiver.script('/several', (response) => {
        held[n]?.push(response);
        most = Math.max(most, ...held.map(({ length }) => length));
        // Only once all receivers have the allowed number: a scheduler that sent fewer would wait for ever.
        if (held.some(({ length }) => length < PER_HOST)) return;
        for (const responses of held) for (const each of responses.splice(0)) each.end();
      }),
    );
    const ids = await Promise.all(urls.map((url, n) => endMany(`several-${n}`, 5 * PER_HOST, url)));
    for (const each of ids) await until(async () => (await unsettled(each)) === 0);
    expect(most).toBe(PER_HOST);
    for (const receiver of receivers) expect(receiver.requestsTo('/several')).toHaveLength(5 * PER_HOST);
  });
});

describe('the fair queue of hosts', () => {
  /** Create a fair queue whose work the test ends, and list the hosts whose work began, in order. */
  function queuesOf(options: { perHost?: number; inAll?: number; capacity?: number }) {
    const lines = new HostFairQueue({ perHost: 100, inAll: 100, capacity: 100, ...options });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (host: string, times = 1) => {
      for (let n = 0; n < times; n++) {
        void lines.run(host, () => {
          begun.push(host);
          return new Promise<void>((resolve) => ends.push(resolve));
        });
      }
    };
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return {
      lines,
      run,
      async begun() {
        await settle();
        return begun.join('');
      },
      async end(count = 1) {
        await settle();
        for (const end of ends.splice(0, count)) end();
      },
    };
  }

  it('the fair queue starts the allowed number for a host at once, and the next when one has ended', async () => {
    const { run, begun, end } = queuesOf({ perHost: 2 });
    run('a', 5);
    expect(await begun()).toBe('aa');
    await end();
    expect(await begun()).toBe('aaa');
    await end(2);
    expect(await begun()).toBe('aaaaa');
  });

  it('hosts in the fair queue take turns', async () => {
    const { run, begun, end } = queuesOf({ inAll: 2 });
    for (const host of ['a', 'b', 'c']) run(host, 3);
    expect(await begun()).toBe('ab');
    for (let n = 0; n < 8; n++) await end();
    expect(await begun()).toBe('ababcabcc');
  });

  it('the fair queue gives no host more shared connections than remain for the others', async () => {
    const { run, begun } = queuesOf({ inAll: 8 });
    run('a', 8);
    expect(await begun()).toBe('aaaa');
    run('b', 8);
    expect(await begun()).toBe('aaaabb');
    for (const host of ['c', 'd', 'e']) run(host, 8);
    expect(await begun()).toBe('aaaabbcd');
  });

  it('the fair queue has room for any host, however many callbacks wait for the others', () => {
    const { lines, run } = queuesOf({ capacity: 8, inAll: 1 });
    for (const host of ['a', 'b', 'c']) while (lines.hasRoom(host)) run(host);
    expect(lines.hasRoom('a')).toBe(false);
    expect(lines.hasRoom('d')).toBe(true);
  });

  it('the fair queue has room again when work has ended, and when it has failed', async () => {
    const { lines, run, begun, end } = queuesOf({ capacity: 2 });
    run('a');
    expect(lines.hasRoom('a')).toBe(false);
    await end();
    await begun();
    expect(lines.hasRoom('a')).toBe(true);
    await expect(lines.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(lines.hasRoom('a')).toBe(true);
  });
});
