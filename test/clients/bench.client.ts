import { expect, it } from '@jest/globals';
import { runBench } from '../support/bench.js';

it('the dashboard benchmark measures tasks on each page of the dashboard', async () => {
  const { dashboard } = await runBench('dashboard', '--jobs 100 --running 2 --rate 50 --seconds 1');
  expect(dashboard).toEqual(
    ['jobs of the space', 'one of its jobs', 'all spaces'].map((what) =>
      expect.objectContaining({ what, reports: 50, tasks: expect.any(Number), longest: expect.any(Number) }),
    ),
  );
  for (const { tasks } of dashboard) expect(tasks).toBeGreaterThan(0);
});
