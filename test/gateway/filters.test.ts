import { afterEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { withStreams } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { destroySockets, expectRefusal, sendHandshake } from './handshake.js';

const service = withService();
const open = withStreams(service);
afterEach(destroySockets);

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

it('shows only the jobs with the name that the query asks for', async () => {
  expect(await shownBy('one-name', '&name=crop')).toEqual(['init', 'created crop', 'killed crop']);
});

it('shows the jobs of each of several names, which may contain any character', async () => {
  expect(await shownBy('two-names', '&name=crop&name=a%26b&type=killed')).toEqual([
    'init',
    'killed crop',
    'killed a&b',
  ]);
});

it('shows only the types that the query asks for, of jobs with any name', async () => {
  expect(await shownBy('one-type', '&type=killed&type=dead')).toEqual([
    'init',
    'killed resize',
    'killed crop',
    'killed a&b',
  ]);
});

it('shows nothing but its init when no job has the name', async () => {
  expect(await shownBy('no-name', '&name=other')).toEqual(['init']);
});

it.each([
  ['type=ended', 'type must be one of created, progress'],
  ['type=killed&type=', 'type must be one of created, progress'],
  [`name=${'x'.repeat(129)}`, 'name must be 1 to 128 characters'],
  ['nam=crop', 'unknown query parameter nam, did you mean name?'],
])('refuses a stream of a space with the query %s', async (query, error) => {
  const response = await sendHandshake(service.url, `/api/v1/realtime/spaces/refused?token=${ADMIN_KEY}&${query}`);
  await expectRefusal(response, 400, 'INVALID_REQUEST');
  expect(response.body.error).toContain(error);
});

it('refuses filters of the stream of one job', async () => {
  const { id } = await createJob(service, 'one-job');
  const response = await sendHandshake(service.url, `/api/v1/realtime/${id}?name=work`);
  await expectRefusal(response, 400, 'INVALID_REQUEST');
  expect(response.body.error).toBe('unknown query parameter name');
});
