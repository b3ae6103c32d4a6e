import { describe, expect, it } from '@jest/globals';
import { FairQueue } from '@yardmaster/store';

/** All that is in a queue, in the order in which it is taken. */
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

describe('a fair queue', () => {
  it('gives each owner a turn, and each the oldest first', () => {
    expect(takenFrom(queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('takes those last who are to come last', () => {
    expect(takenFrom(queueOf('a1', 'a2', 'b1', 'b2'), (owner) => owner === 'a')).toEqual(['b1', 'b2', 'a1', 'a2']);
  });

  it('counts what waits, and returns nothing when it is empty', () => {
    const queue = queueOf('a1', 'b1');
    expect(queue.size).toBe(2);
    takenFrom(queue);
    expect([queue.size, queue.shift()]).toEqual([0, undefined]);
  });

  it('drops the oldest of an owner, who keeps its turn', () => {
    const queue = queueOf('a1', 'a2', 'b1', 'c1');
    queue.drop('a');
    queue.drop('b');
    queue.drop('b');
    expect([queue.size, takenFrom(queue)]).toEqual([2, ['a2', 'c1']]);
  });
});
