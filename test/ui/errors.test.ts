import { expect, it } from '@jest/globals';
import type { ListedJob } from '@yardmaster/protocol';
import { errorGroupsOf } from '../../apps/ui/src/live/errors.js';

const job = (id: string, status: string, error?: unknown) => ({ id, status, error }) as ListedJob;

it('groups dead jobs by the text of their error, the largest group first', () => {
  const disk = { message: 'disk full', code: 28 };
  const jobs = [
    job('a', 'dead', 'timeout'),
    job('b', 'dead', disk),
    job('c', 'dead', disk),
    job('d', 'pending', 'timeout'),
  ];
  expect(errorGroupsOf(jobs)).toEqual([
    { error: disk, text: 'disk full', ids: ['b', 'c'] },
    { error: 'timeout', text: 'timeout', ids: ['a'] },
  ]);
});
