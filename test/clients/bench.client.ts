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

// The SDKs for Go and Python are left out, because building and installing them needs a network.
it('the job benchmark measures every contestant', async () => {
  const options = '--only cycle,loops --jobs 50 --clients 4 --rounds 1 --leave-out faktory,asynq';
  const { cpu } = await runBench('speed', options);
  expect(cpu.map(({ load, who }: { load: string; who: string }) => `${load}: ${who}`)).toEqual([
    ...['yardmaster', 'bullmq', 'bareRedis', 'bareHttp'].map((who) => `cycle: ${who}`),
    ...['yardmaster', 'turn', 'batch10', 'batch50', 'bullmq', 'bullmqBulk'].map((who) => `loops: ${who}`),
    ...['withProgress', 'turnWithProgress', 'batch10WithProgress', 'batch50WithProgress'].map((who) => `loops: ${who}`),
  ]);
});

it('the SDK benchmark measures the workers of all SDKs', async () => {
  const options = '--jobs 100 --rate 100 --seconds 0.5 --rounds 1 --leave-out go,asynq,python';
  const { cpu } = await runBench('sdk', options);
  expect(cpu.map(({ load, who }: { load: string; who: string }) => `${load}: ${who}`)).toEqual(
    ['filled', 'arriving'].flatMap((load) => ['typescript', 'bullmq'].map((who) => `${load}: ${who}`)),
  );
});
