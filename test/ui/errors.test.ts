import { expect, it } from '@jest/globals';
import type { ListedJob } from '@yardmaster/protocol';
import { errorGroupsOf } from '../../apps/ui/src/live/errors.js';

const job = (status: string, error?: unknown) => ({ status, error }) as ListedJob;

it('groups dead jobs by the text of their error, the largest group first', () => {
  const disk = { message: 'disk full', code: 28 };
  const jobs = [job('dead', 'timeout'), job('dead', disk), job('dead', disk), job('pending', 'timeout')];
  expect(errorGroupsOf(jobs)).toEqual([
    { error: disk, text: 'disk full', size: 2 },
    { error: 'timeout', text: 'timeout', size: 1 },
  ]);
});
