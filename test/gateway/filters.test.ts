import { expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService();
const open = withStreams(service);

/** Create and kill a job with each name, and return what a stream with filters shows of them. */
async function shownBy(spaceId: string, filters: string): Promise<string[]> {
  const stream = await open(`/spaces/${spaceId}?token=${ADMIN_KEY}${filters}`);
  const all = await open(`/spaces/${spaceId}?token=${ADMIN_KEY}`);
  for (const name of ['resize', 'crop', 'a&b']) {
    const { id } = await createJob(service, spaceId, { name });
    await service.call('POST', `/jobs/${id}/kill`);
  }
  await until(() => all.messages.length === 7);
  await stream.close(); // The gateway has written to both streams by now, and a close follows what was written.
  return stream.messages.map(({ type, jobName = '' }) => `${type} ${jobName}`.trim());
}

it('a stream of a space shows only the jobs with the name in its query', async () => {
  expect(await shownBy('one-name', '&name=crop')).toEqual(['init', 'created crop', 'killed crop']);
});

it('a stream of a space shows the jobs of several names, which may contain any character', async () => {
  expect(await shownBy('two-names', '&name=crop&name=a%26b&type=killed')).toEqual([
    'init',
    'killed crop',
    'killed a&b',
  ]);
});

it('a stream of a space shows only the types in its query, of jobs with any name', async () => {
  expect(await shownBy('one-type', '&type=killed&type=dead')).toEqual([
    'init',
    'killed resize',
    'killed crop',
    'killed a&b',
  ]);
});

it('a stream of a space shows only its init when no job has the name in its query', async () => {
  expect(await shownBy('no-name', '&name=other')).toEqual(['init']);
});
