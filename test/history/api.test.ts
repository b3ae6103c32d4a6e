import { expect, it } from '@jest/globals';
import { withService } from '../support/service.js';

const service = withService();
const historyOf = (query: string) => service.call('GET', `/spaces/any/stats/history?${query}`);

it.each([
  ['step=61', 'step must be 60 or 3600'],
  ['from=yesterday', 'from must be an ISO 8601 timestamp with a time zone'],
  ['from=2026-08-01T10:00:00Z&to=2026-08-01T10:00:00Z', 'from must be before to'],
  ['from=2026-08-02T00:00:00Z&to=2026-08-01T00:00:00Z', 'from must be before to'],
  ['from=2026-08-01T10:00:30Z&to=2026-08-01T10:00:30Z', 'from must be before to'],
  ['from=2026-08-01T10:00:31Z&to=2026-08-01T10:00:30Z', 'from must be before to'],
  ['from=2026-08-01T10:40:00Z&to=2026-08-01T10:20:00Z&step=3600', 'from must be before to'],
  ['from=2100-01-01T00:00:00Z', 'from must be before to'],
  ['from=2026-08-01T00:00:00Z&to=2026-08-01T06:00:01Z', 'from must be at most 360 steps of 60 seconds before to'],
  ['from=2026-01-01T00:00:00Z&step=3600', 'from must be at most 360 steps of 3600 seconds before to'],
  ['form=2026-08-01T00:00:00Z', 'unknown query parameter form, did you mean from?'],
])('refuses the history of a space with %s', async (query, error) => {
  expect(await historyOf(query)).toMatchObject({ status: 400, body: { error, code: 'INVALID_REQUEST' } });
});

it.each([
  ...['', 'step=3600', 'from=2026-08-01T00:00:00Z&to=2026-08-01T06:00:00Z'],
  'from=2026-08-01T10:00:30.000Z&to=2026-08-01T10:00:30.001Z',
])('returns an empty history for a space without changes: %s', async (query) => {
  const step = query === 'step=3600' ? 3600 : 60;
  expect(await historyOf(query)).toMatchObject({ status: 200, body: { spaceId: 'any', step, points: [] } });
});
