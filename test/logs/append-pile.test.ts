import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { type ApiProcess, startApiProcess } from './api-process.js';
import { gzipped, readLogs, written } from './entries.js';

let redis: OwnRedis;
let service: TestService;
let api: ApiProcess;
beforeAll(async () => {
  redis = await startRedis();
  service = await startService({}, { redisUrl: redis.url });
  api = await startApiProcess(service, redis.url);
});
afterAll(async () => {
  process.kill(redis.pid(), 'SIGCONT');
  await api.stop();
  await service.stop();
  await redis.stop();
});

/** 1 GB in all, inflated; some kilobytes each on the wire. */
const BATCHES = 200;
const largest = gzipped(
  written(
    'NDJSON',
    Array.from({ length: 1_000 }, (_, n) => `${n} `.padEnd(5_200, 'x')),
  ),
);
/** A few of them may wait for Redis, in the form in which they came and in that in which they go. */
const MAY_GROW_BY_MB = 300;

it('batches that Redis does not take are refused before they fill the memory', async () => {
  const [{ id }, other] = [await createJob(service, 'pile'), await createJob(service, 'pile')];
  for (let n = 0; n < 5; n++) expect((await api.append(id, largest)).status).toBe(200);
  const before = api.peakMegabytes();
  process.kill(redis.pid(), 'SIGSTOP');

  const answers = await Promise.all(Array.from({ length: BATCHES }, () => api.append(id, largest)));
  for (const { status, headers, body } of answers)
    expect({ status, code: body.code, retry: headers['retry-after'] }).toEqual({
      status: 503,
      code: 'UNAVAILABLE',
      retry: '1',
    });
  expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);

  process.kill(redis.pid(), 'SIGCONT');
  await until(async () => (await api.append(other.id, { body: ['served'] })).status === 200);
  // Those that were in the socket of the stopped Redis may have been stored, each of them whole.
  const logs = await readLogs(service, id);
  expect(logs.map(({ seq }) => seq)).toEqual(logs.map((_, i) => (logs[0]?.seq as number) + i));
  expect((logs.at(-1)?.seq as number) % 1_000).toBe(0);
});
