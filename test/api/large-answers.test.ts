import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ApiProcess, startApiProcess } from '../logs/api-process.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let api: ApiProcess;
beforeAll(async () => {
  service = await startService();
  api = await startApiProcess(service);
});
afterAll(async () => {
  await api.stop();
  await service.stop();
});

it('an answer is given although it alone is larger than what may wait for one API key', async () => {
  const id = await jobIn(service, 'running', 'large');
  await writeHistory(service, id);
  const event = JSON.stringify(['event', Date.now(), 'x'.repeat(65_000)]);
  for (let n = 0; n < 11; n++) {
    await service.redis.rpush(`${service.store.keys.job(id)}:events`, ...Array<string>(100).fill(event));
  }
  const { status, text } = await api.read(`/jobs/${id}`);
  expect(status).toBe(200);
  expect(text.length).toBeGreaterThan(64 * 1_048_576);
});
