import { expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ACTIONS, itemOf, poll, read, settle } from './settle.js';

const service = withService();

const SCOPES = {
  ...{ ack: 'jobs:ack', progress: 'jobs:progress', checkpoint: 'jobs:event', event: 'jobs:event' },
  ...{ keepalive: 'jobs:keepalive', complete: 'jobs:complete', fail: 'jobs:fail', release: 'jobs:fail' },
};

it.each([...new Set(Object.values(SCOPES))])(
  'settle allows a key with %s only the actions of this scope',
  async (scope) => {
    const { key } = await service.key([scope]);
    const ids = await Promise.all(
      ACTIONS.map((action) => jobIn(service, action === 'ack' ? 'delivered' : 'running', 'scopes')),
    );
    const items = ACTIONS.map((action, i) => itemOf(ids[i] as string, action));
    const { status, body } = await settle(service, 'scopes', items, { key });
    const expected = ACTIONS.map((action, i) =>
      SCOPES[action] === scope
        ? { jobId: ids[i], success: true }
        : { jobId: ids[i], success: false, error: `Missing required scope: ${SCOPES[action]}`, code: 'FORBIDDEN' },
    );
    expect({ status, results: body.results }).toEqual({ status: 200, results: expected });
  },
);

it('settle refuses a key with none of the scopes, and poll one without jobs:poll', async () => {
  const id = await jobIn(service, 'running', 'scopes');
  const [none, worker] = [await service.key(['jobs:read', 'jobs:poll']), await service.key(['jobs:complete'])];
  expect((await settle(service, 'scopes', [itemOf(id, 'complete')], { key: none.key })).status).toBe(403);
  const refused = await poll(service, 'scopes', { settle: [itemOf(id, 'complete')] }, { key: worker.key });
  expect({ status: refused.status, error: refused.body.error }).toEqual({
    ...{ status: 403, error: 'Missing required scope: jobs:poll' },
  });
  expect((await read(service, id)).status).toBe('running');
});

it('poll refuses autoAck without jobs:ack, and then settles and claims nothing', async () => {
  const [id, next] = [await jobIn(service, 'running', 'auto'), await createJob(service, 'auto')];
  const { key } = await service.key(['jobs:poll', 'jobs:complete']);
  const { status, body } = await poll(service, 'auto', { autoAck: true, settle: [itemOf(id, 'complete')] }, { key });
  expect({ status, error: body.error }).toEqual({ status: 403, error: 'Missing required scope: jobs:ack' });
  expect([(await read(service, id)).status, (await read(service, next.id)).status]).toEqual(['running', 'pending']);
  const withoutAck = await poll(service, 'auto', { settle: [itemOf(id, 'complete')] }, { key });
  expect(withoutAck.body).toMatchObject({ jobs: [{ id: next.id }], settled: [{ success: true }] });
});

it('settle and poll refuse a key of another space before they read an outcome', async () => {
  const id = await jobIn(service, 'running', 'own');
  const { key } = await service.key(['jobs:worker'], { spaceId: 'other' });
  const refusal = { status: 403, body: { error: 'The API key is bound to another space', code: 'FORBIDDEN' } };
  expect(await settle(service, 'own', [itemOf(id, 'complete')], { key })).toMatchObject(refusal);
  expect(await poll(service, 'own', { settle: [itemOf(id, 'complete')] }, { key })).toMatchObject(refusal);
  const { status, body } = await settle(service, 'other', [itemOf(id, 'complete')], { key });
  expect({ status, results: body.results }).toEqual({
    status: 200,
    results: [
      { jobId: id, success: false, error: 'Job is in another space than the one in the path', code: 'FORBIDDEN' },
    ],
  });
  expect((await read(service, id)).status).toBe('running');
});
