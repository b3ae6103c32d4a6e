import { expect, it } from '@jest/globals';
import { jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';

// The parts of a history that Get Job returns.

const service = withService();

const read = async (id: string, query = '') => (await service.call('GET', `/jobs/${id}${query}`)).body;
const seqsOf = ({ events }: { events: { id: string }[] }) => events.map(({ id }) => Number(id.split('.')[1]));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

it('returns a job without its history, and otherwise complete, with events=0', async () => {
  const id = await jobIn(service, 'dead', 'get-job');
  const { events, ...job } = await read(id);
  expect(events).not.toHaveLength(0);
  expect(await read(id, '?events=0')).toEqual(job);
  expect(await read(id, '?events=1')).toEqual({ ...job, events });
});

it('returns a history page by page, with each event once and the job on every page', async () => {
  const id = await jobIn(service, 'running', 'get-job');
  for (let n = 4; n <= 250; n++) await step(service, id, 'event', n);
  const { events, ...job } = await read(id);
  expect(seqsOf({ events })).toEqual(range(1, 250));
  for (const [query, from, to] of [
    ['?eventsLimit=1', 1, 1],
    ['?eventsLimit=3', 1, 3],
    ['?eventsAfter=0', 1, 100],
    ['?eventsAfter=1&eventsLimit=2', 2, 3],
    ['?eventsAfter=100', 101, 200],
    ['?eventsAfter=150&eventsLimit=1000', 151, 250],
    ['?eventsAfter=249&eventsLimit=3', 250, 250],
  ] as const) {
    expect(await read(id, query)).toEqual({ ...job, events: events.slice(from - 1, to) });
  }
  for (const after of ['250', '251', '9'.repeat(30)]) {
    expect(await read(id, `?eventsAfter=${after}`)).toEqual({ ...job, events: [] });
  }
});

it('returns pages of a history that is implied by the record instead of stored as a list', async () => {
  const id = await jobIn(service, 'completed', 'get-job');
  expect(seqsOf(await read(id, '?eventsAfter=1&eventsLimit=2'))).toEqual([2, 3]);
  expect(seqsOf(await read(id, '?eventsAfter=3'))).toEqual([4]);
  expect(seqsOf(await read(id, '?eventsLimit=2'))).toEqual([1, 2]);
  for (const after of [4, 2 ** 32, 22_517_126_509_554, Number.MAX_SAFE_INTEGER])
    expect(seqsOf(await read(id, `?eventsAfter=${after}&eventsLimit=100`))).toEqual([]);
});
