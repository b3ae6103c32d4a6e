import { describe, expect, it } from '@jest/globals';
import { createReadLimiter } from '../../packages/store/src/limits/read-limiter.js';

/** Four turns at once; each piece of work ends when told to. */
function heldTurns(patienceMs = 60_000) {
  const inTurn = createReadLimiter(4, patienceMs);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    /** @returns how it ended */
    begin(name: string) {
      const work = () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      };
      return inTurn(name.slice(0, 1), work).then(
        () => 'done',
        ({ code }) => code,
      );
    },
    async end(name: string) {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('turns of long work', () => {
  it('lets four work at once, of one owner if no other waits', async () => {
    const { begin, begun, end } = heldTurns();
    const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map(begin);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    for (const name of begun) await end(name);
    expect(await Promise.all(all)).toEqual(Array(5).fill('done'));
  });

  it('gives a turn to who has none before one who has', async () => {
    const { begin, begun, end } = heldTurns();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'c1']) void begin(name);
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
    expect(begun.slice(4)).toEqual(['b1', 'c1', 'a5', 'b2']);
  });

  it('goes on after work that has failed', async () => {
    const inTurn = createReadLimiter(1, 60_000);
    const fails = inTurn('a', () => Promise.reject(new Error('no')));
    await expect(fails).rejects.toThrow('no');
    expect(await inTurn('a', () => Promise.resolve('yes'))).toBe('yes');
  });

  it('refuses what has waited too long, and does not begin it', async () => {
    const { begin, begun, end } = heldTurns(50);
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map(begin);
    expect(await Promise.all(all.slice(4))).toEqual(['OVERLOADED', 'OVERLOADED']);
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  it('stops long work between its steps once nobody waits for it', async () => {
    const steps = createReadLimiter(1, 20)('a', async ({ check, until }) => {
      for (;;) {
        check();
        if (performance.now() > until + 60_000) return;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    await expect(steps).rejects.toMatchObject({ code: 'OVERLOADED' });
  });
});
