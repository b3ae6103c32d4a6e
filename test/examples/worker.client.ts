import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from '@jest/globals';
import { endAll, runCommand } from '../cli/yardmaster.js';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, withService } from '../support/service.js';
import { until } from '../support/until.js';

const pathOf = (example: string) => fileURLToPath(new URL(`../../examples/${example}`, import.meta.url));

// Of its own, because the worker claims any such job of the space.
const service = withService({}, { isOwn: true });
afterAll(endAll);

it.each([
  ['worker.mjs', 'Resizing cat.png\n'],
  ['worker-loop.mjs', ''],
  ['worker-turn.mjs', ''],
])('the worker of examples/%s completes a job', async (example, says) => {
  const { id } = await createJob(service, 'demo', { name: 'resize', payload: { image: 'cat.png', width: 320 } });
  const env = { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: ADMIN_KEY };
  const worker = runCommand(process.execPath, [pathOf(example)], env);
  await until(async () => (await service.call('GET', `/jobs/${id}`)).body.status === 'completed');
  expect((await service.call('GET', `/jobs/${id}`)).body).toMatchObject({ attemptNumber: 1, result: { width: 320 } });
  worker.child.kill();
  await worker.exit();
  expect([worker.out(), worker.err()]).toEqual([says, '']);
});
