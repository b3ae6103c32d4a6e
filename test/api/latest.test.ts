import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';

const service = withService();

const post = async (id: string, verb: string, body?: unknown) =>
  expect((await service.call('POST', `/jobs/${id}/${verb}`, { body })).status).toBe(200);
const attempt = async (id: string) => {
  await post(id, 'claim');
  await post(id, 'ack');
};

/** Return the latest error and progress of a job as Get Job and List Jobs show them, which must agree. */
async function latestOf(id: string, space: string) {
  const pick = ({ error, progress }: { error?: unknown; progress?: unknown }) => ({ error, progress });
  const got = (await service.call('GET', `/jobs/${id}`)).body;
  const listed = (await service.call('GET', `/spaces/${space}/jobs?limit=100`)).body;
  const shown = pick(listed.find((job: { id: string }) => job.id === id));
  expect(shown).toEqual(pick(got));
  return shown;
}

it('shows the latest error and progress of a job through its retries', async () => {
  const { id } = await createJob(service, 'latest', { maxRetries: 2 });
  expect(await latestOf(id, 'latest')).toEqual({});
  await attempt(id);
  await post(id, 'progress', { percent: 10, message: 'first' });
  const progress = { percent: 10, message: 'first' };
  expect(await latestOf(id, 'latest')).toEqual({ progress });
  await post(id, 'fail', { error: 'no' });
  expect(await latestOf(id, 'latest')).toEqual({ error: 'no', progress });
  await attempt(id);
  const error = { message: 'no again', code: 7 };
  await post(id, 'fail', { error });
  expect(await latestOf(id, 'latest')).toEqual({ error, progress });
  await attempt(id);
  await post(id, 'complete', { result: 1 });
  expect(await latestOf(id, 'latest')).toEqual({ error, progress });
});

it('shows the error of a dead job', async () => {
  const id = await jobIn(service, 'running', 'latest', { maxRetries: 0 });
  await post(id, 'fail', { error: 'the end' });
  expect(await latestOf(id, 'latest')).toEqual({ error: 'the end' });
});

it('returns a job without error and progress fields until it has an error or progress', async () => {
  const { id, ...created } = await createJob(service, 'latest');
  const got = (await service.call('GET', `/jobs/${id}`)).text;
  const listed = (await service.call('GET', '/spaces/latest/jobs?limit=1')).text;
  for (const text of [JSON.stringify(created), got, listed]) expect(text).not.toMatch(/"(error|progress)":/);
});
