import { call, lost, OVERLOADED, outage, REFUSED, stored, UNKNOWN, without } from './changes.js';
import { examplesOf } from './examples.js';
import { both, START, story, TWICE } from './story.js';

const deliveries = examplesOf('deliveries');
const LATER = /delivered at 2026-01-01T12:00:02.200Z, no client got it/;
const second = without('poll', 1);
const BRIEF = outage('redis', 90, 110);
const oneOfTwo = both(story('delivered 100', lost('poll'), BRIEF), story('b: delivered 100', without('poll')));
const LOST = [without('poll'), call('poll', 99, UNKNOWN)] as const;
deliveries.finds('a delivery that no client asked for', LATER, TWICE, second);
const tooLate = call('poll', 2_300, UNKNOWN);
deliveries.finds('a delivery at another time', LATER, TWICE, second, tooLate, outage('redis', 2_290, 2_310));
deliveries.finds('two deliveries to a poll for one job', /delivered at/, oneOfTwo);
deliveries.finds('a delivery much later', /12:00:09/, 'delivered 9000', ...LOST, outage('redis', 90, 10_000, 'api-1'));
deliveries.allows('a delivery whose response was lost', `${TWICE}, killed 2300 no`, lost('poll', 0), BRIEF);
const waited = call('poll', 2_150, { sent: { waitSeconds: 1 }, endedAt: START + 3_300, body: { jobs: [] } });
const DURING = outage('redis', 2_100, 2_300);
deliveries.finds('a delivery to a poll that waited without an outage', LATER, TWICE, second, waited);
const empty = call('poll', 2_150, { sent: {}, endedAt: START + 3_300, body: { jobs: [] } });
deliveries.finds('a delivery to a poll that did not wait', LATER, TWICE, second, empty, DURING);
deliveries.allows(
  'a delivery to a poll that kept waiting in an outage',
  `${TWICE}, killed 2300 no`,
  second,
  waited,
  DURING,
);

const lateness = examplesOf('lateness');
const silentAt = (at: number) => `delivered 100, acked 200, dead ${at} silent`;
lateness.finds('a timeout that is more than 2 s late', /came 2001 ms late/, silentAt(3_201));
const unackedAt = (at: number) => `${TWICE}, dead ${at} unacked`;
lateness.finds('a late end of a job that no worker acked', /came 2001 ms late/, unackedAt(6_201));
lateness.allows('the end of a job that no worker acked', unackedAt(4_201));
lateness.finds('a timeout more than 5 s after an outage', /late/, silentAt(9_001), outage('redis', 1_000, 4_000));
lateness.finds(
  'a late timeout during an outage of other processes',
  /came 2800 ms late/,
  silentAt(4_000),
  outage('redis', 0, 3_900, 'api-1'),
);
lateness.allows('a timeout after an outage', silentAt(8_999), outage('scheduler', 1_000, 4_000));
lateness.finds(
  'a timeout that is more than 2 s late without memory',
  /came 2001 ms late/,
  silentAt(3_201),
  outage('room', 1_000, 4_000),
);
lateness.allows('a window that a keepalive extended', silentAt(3_500), call('keepalive', 900));

const drained = examplesOf('drained');
const overdue = stored({ deadline: START + 59_000 });
drained.finds('a job that no worker gets', /still pending/, '');
drained.finds('a deadline in the past', /still running .* overdue by 1000 ms/, 'delivered 100, acked 200', overdue);
drained.allows('a job that has ended');

const responses = examplesOf('responses');
const beat = (fields: object) => call('keepalive', 300, fields);
const without503 = /nothing prevented it/;
const NO_REDIS = outage('redis', 100, 6_999);
const NO_ROOM = { ...UNKNOWN, code: 'STORAGE_FULL' };
responses.finds('a slow response', /took 2600 ms/, beat({ endedAt: START + 2_900 }));
responses.finds(
  'a slow poll that may wait',
  /took 3601 ms/,
  call('poll', 300, { sent: { waitSeconds: 1 }, endedAt: START + 3_901, body: { jobs: [] } }),
);
responses.allows(
  'a poll that waited',
  call('poll', 300, { sent: { waitSeconds: 1 }, endedAt: START + 3_800, body: { jobs: [] } }),
);
responses.finds('no response', /not served/, beat({ ...UNKNOWN, status: null, code: null }), NO_REDIS);
responses.finds('a bug', /returned 500/, beat({ ...UNKNOWN, status: 500 }));
responses.finds('a 503 without a fault', without503, beat(UNKNOWN));
responses.finds('a 503 long after an outage', without503, call('keepalive', 9_000, UNKNOWN), NO_REDIS);
responses.finds('an unknown job', /refused: 404/, beat({ ...REFUSED, status: 404 }));
responses.finds('a 503 of an API with Redis', without503, beat(UNKNOWN), outage('redis', 100, 6_999, 'api-2'));
responses.finds('a 503 while the other API is stopped', without503, beat(UNKNOWN), outage('api', 100, 6_999, 'api-2'));
responses.finds('a full Redis that has room', without503, beat(NO_ROOM), NO_REDIS);
responses.finds('an overload without a fault', without503, beat(OVERLOADED), outage('room', 100, 6_999));
responses.allows('a 503 just after an outage', call('keepalive', 8_999, UNKNOWN), NO_REDIS);
responses.allows('an expected refusal', beat({ ...REFUSED, status: 401, mayBe: [401] }));
responses.allows('a 503 of an API without Redis', beat(UNKNOWN), outage('redis', 100, 6_999, 'api-1'));
responses.allows('no response of a stopped API', beat({ ...UNKNOWN, status: null }), outage('api', 100, 6_999));
responses.allows('an overload', beat(OVERLOADED), outage('capacity', 100, 6_999));
responses.allows('a refusal by a full Redis', beat(NO_ROOM), outage('room', 100, 6_999));
