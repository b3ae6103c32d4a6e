import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../../bench/speed/main.mjs', import.meta.url));

// Those in Go are left out, because their build needs a network.
const OPTIONS =
  '--only cycle,loops,cycleByFifties,scripts --jobs 50 --clients 4 --rounds 1 --leave-out faktory,asynq --json';

it('measures every contestant of the benchmark of a job', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...OPTIONS.split(' ')]);
  const { cpu, scripts } = JSON.parse(stdout);
  expect(cpu.map(({ load, who }: { load: string; who: string }) => `${load}: ${who}`)).toEqual([
    ...['yardmaster', 'plainExpress', 'bullmq', 'bareRedis', 'bareHttp', 'scripts'].map((who) => `cycle: ${who}`),
    ...['yardmaster', 'turn', 'batch10', 'batch50', 'bullmq', 'bullmqBulk'].map((who) => `loops: ${who}`),
    ...['withProgress', 'turnWithProgress', 'batch10WithProgress', 'batch50WithProgress'].map((who) => `loops: ${who}`),
    ...['yardmaster', 'plainExpress'].map((who) => `cycleByFifties: ${who}`),
  ]);
  expect(scripts).toHaveLength(7);
}, 120_000);
