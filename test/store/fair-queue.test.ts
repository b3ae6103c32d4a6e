import { expect, it } from '@jest/globals';
import { FairQueue } from '@yardmaster/store';

/** Take all items of a queue, in order. */
function takenFrom(queue: FairQueue<string>, isLast?: (owner: string) => boolean): string[] {
  const taken: string[] = [];
  for (let next = queue.shift(isLast); next; next = queue.shift(isLast)) taken.push(`${next.owner}${next.item}`);
  return taken;
}

function queueOf(...entries: string[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [owner = '', item = ''] of entries) queue.push(owner, item);
  return queue;
}

it('a fair queue returns the oldest item of each owner in rotation', () => {
  expect(takenFrom(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('a fair queue returns items of low-priority owners last', () => {
  expect(takenFrom(queueOf('a1', 'a2', 'b1', 'b2'), (owner) => owner === 'a')).toEqual(['b1', 'b2', 'a1', 'a2']);
});

it('a fair queue counts its items, and returns undefined when it is empty', () => {
  const queue = queueOf('a1', 'b1');
  expect(queue.size).toBe(2);
  takenFrom(queue);
  expect([queue.size, queue.shift()]).toEqual([0, undefined]);
});

it('a fair queue drops the oldest item of an owner without changing the rotation', () => {
  const queue = queueOf('a1', 'a2', 'b1', 'c1');
  queue.drop('a');
  queue.drop('b');
  queue.drop('b');
  expect([queue.size, takenFrom(queue)]).toEqual([2, ['a2', 'c1']]);
});
