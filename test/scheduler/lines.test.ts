import { expect, it } from '@jest/globals';
import { Lines } from '../../apps/scheduler/src/callbacks/lines.js';

/** Lines with work that ends when told, and who began when. */
function linesOf(options: { perHost?: number; inAll?: number; places?: number }) {
  const lines = new Lines({ perHost: 100, inAll: 100, places: 100, ...options });
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
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    lines,
    run,
    /** Who began, in this order, once all that can begin has. */
    async begun() {
      await settled();
      return begun.join('');
    },
    async end(count = 1) {
      await settled();
      for (const end of ends.splice(0, count)) end();
    },
  };
}

it('does for a host so many at once, and the next when one has ended', async () => {
  const { run, begun, end } = linesOf({ perHost: 2 });
  run('a', 5);
  expect(await begun()).toBe('aa');
  await end();
  expect(await begun()).toBe('aaa');
  await end(2);
  expect(await begun()).toBe('aaaaa');
});

it('lets hosts take turns', async () => {
  const { run, begun, end } = linesOf({ inAll: 2 });
  run('a', 3);
  run('b', 3);
  run('c', 3);
  expect(await begun()).toBe('ab');
  for (let n = 0; n < 8; n++) await end();
  expect(await begun()).toBe('ababcabcc');
});

it('gives no host more of what all share than is left for others', async () => {
  const { run, begun } = linesOf({ inAll: 8 });
  run('a', 8);
  expect(await begun()).toBe('aaaa');
  run('b', 8);
  expect(await begun()).toBe('aaaabb');
  run('c', 8);
  run('d', 8);
  run('e', 8);
  expect(await begun()).toBe('aaaabbcd');
});

it('has room for any host, however many wait for the others', () => {
  const { lines, run } = linesOf({ places: 8, inAll: 1 });
  for (const host of ['a', 'b', 'c']) while (lines.hasRoom(host)) run(host);
  expect(lines.hasRoom('a')).toBe(false);
  expect(lines.hasRoom('d')).toBe(true);
});

it('has room again when work has ended, and when it has failed', async () => {
  const { lines, run, end } = linesOf({ places: 2 });
  run('a');
  expect(lines.hasRoom('a')).toBe(false);
  await end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(lines.hasRoom('a')).toBe(true);
  await expect(lines.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(lines.hasRoom('a')).toBe(true);
});
