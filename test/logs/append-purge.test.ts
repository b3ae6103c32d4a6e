import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { keysOf } from '../support/fsck.js';
import { createJob, jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { append, appendOk, entriesOf, logsKey, readLogs } from './entries.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RETENTION_SECONDS: '1' });
});
afterAll(() => service.stop());

const GONE = { status: 404, body: { error: 'Job not found', code: 'JOB_NOT_FOUND' } };

/** Keys of jobs and of their indexes. */
const keysLeft = async () =>
  (await keysOf(service.redis, service.prefix)).filter((key) => !/:meta$|:\{bull\}:/.test(key));
const statusOf = async (id: string) => (await service.call('GET', `/jobs/${id}`)).status;

it('logs go with their job, however many and whenever they were appended', async () => {
  const ended = (['completed', 'dead', 'killed'] as const).map((status) => jobIn(service, status, 'purge'));
  for (const id of await Promise.all(ended)) await appendOk(service, id, entriesOf(50));
  const long = await jobIn(service, 'running', 'purge');
  for (let n = 0; n < 10; n++) await appendOk(service, long, entriesOf(1_000), n * 1_000 + 1);
  await service.call('POST', `/jobs/${long}/complete`, { body: {} });
  await appendOk(service, long, ['and the last word'], 10_001);

  await until(async () => (await keysLeft()).length === 0);
  expect(await append(service, long, { body: ['too late'] })).toMatchObject(GONE);
  expect(await keysLeft()).toEqual([]);
});

it('a worker that goes on until its job is purged leaves nothing behind', async () => {
  const id = await jobIn(service, 'completed', 'purge');
  const writeOn = async () => {
    for (;;) {
      const { status, body } = await append(service, id, { body: ['more'] });
      if (status !== 200) return { status, body };
    }
  };
  const ends = await Promise.all([writeOn(), writeOn(), writeOn(), writeOn()]);
  expect(ends).toEqual(Array(4).fill(GONE));
  await until(async () => (await keysLeft()).length === 0);
});

it('logs of a job that has not ended stay', async () => {
  const { id } = await createJob(service, 'open');
  await appendOk(service, id, ['kept']);
  const fence = await jobIn(service, 'completed', 'open');
  await appendOk(service, fence, ['gone']);
  await until(async () => (await statusOf(fence)) === 404);
  expect(await readLogs(service, id)).toMatchObject([{ seq: 1, message: 'kept' }]);
  expect(await service.redis.exists(logsKey(service, fence))).toBe(0);
});
