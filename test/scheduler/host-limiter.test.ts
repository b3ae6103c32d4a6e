import { describe, expect, it } from '@jest/globals';
import { HostLimiter } from '../../apps/scheduler/src/callbacks/host-limiter.js';

describe('the limiter of hosts', () => {
  /** Create a limiter whose work the test ends, and list the hosts whose work began, in order. */
  function limiterOf(options: { perHost?: number; atOnce?: number; capacity?: number }) {
    const limiter = new HostLimiter({ perHost: 100, atOnce: 100, capacity: 100, ...options });
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (host: string, times = 1) => {
      for (let n = 0; n < times; n++) {
        void limiter.run(host, () => {
          begun.push(host);
          return new Promise<void>((resolve) => ends.push(resolve));
        });
      }
    };
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return {
      limiter,
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

  it('the limiter starts the allowed work of a host immediately, and more when some has ended', async () => {
    const { run, begun, end } = limiterOf({ perHost: 2 });
    run('a', 5);
    expect(await begun()).toBe('aa');
    await end();
    expect(await begun()).toBe('aaa');
    await end(2);
    expect(await begun()).toBe('aaaaa');
  });

  it('the limiter gives slots to hosts in turn', async () => {
    const { run, begun, end } = limiterOf({ atOnce: 2 });
    for (const host of ['a', 'b', 'c']) run(host, 3);
    expect(await begun()).toBe('ab');
    for (let n = 0; n < 8; n++) await end();
    expect(await begun()).toBe('ababcabcc');
  });

  it('the limiter gives no host more shared slots than remain for the others', async () => {
    const { run, begun } = limiterOf({ atOnce: 8 });
    run('a', 8);
    expect(await begun()).toBe('aaaa');
    run('b', 8);
    expect(await begun()).toBe('aaaabb');
    for (const host of ['c', 'd', 'e']) run(host, 8);
    expect(await begun()).toBe('aaaabbcd');
  });

  it('the limiter has room for any host, however much work is waiting for others', () => {
    const { limiter, run } = limiterOf({ capacity: 8, atOnce: 1 });
    for (const host of ['a', 'b', 'c']) while (limiter.hasRoom(host)) run(host);
    expect(limiter.hasRoom('a')).toBe(false);
    expect(limiter.hasRoom('d')).toBe(true);
    expect(limiter.isFull()).toBe(false);
  });

  it('the limiter is full for every host once work for many hosts uses the whole capacity', () => {
    const { limiter, run } = limiterOf({ capacity: 3, atOnce: 1 });
    for (const host of ['a', 'b', 'c']) run(host);
    expect(limiter.isFull()).toBe(true);
    expect(limiter.hasRoom('d')).toBe(false);
  });

  it('the limiter has room again when work has ended or failed', async () => {
    const { limiter, run, begun, end } = limiterOf({ capacity: 2 });
    run('a');
    expect(limiter.hasRoom('a')).toBe(false);
    await end();
    await begun();
    expect(limiter.hasRoom('a')).toBe(true);
    await expect(limiter.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(limiter.hasRoom('a')).toBe(true);
  });
});
