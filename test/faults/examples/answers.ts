import type { Allowed, Broken } from './examples.js';
import {
  BORN,
  completed,
  dead,
  kill,
  killed,
  life,
  outage,
  quiet,
  RUNS,
  redelivered,
  started,
  TIMED_OUT,
} from './lives.js';
import { callOf, createOf, jobOf, pollOf, REFUSED, recordOf, START, UNKNOWN } from './made-up.js';

/** Of answers, and of what nobody was there to answer: what breaks a rule. */
export const BROKEN: readonly Broken[] = [
  [
    'deliveries',
    'a delivery that nobody asked for',
    /delivered at 2026-01-01T12:00:02.200Z, which came to no client/,
    recordOf([jobOf('a', redelivered)], [pollOf('a', 99)]),
  ],
  [
    'never-early',
    'a delivery window that ended early',
    /delivery_timeout \(a\.3\) came 2 ms early/,
    recordOf([jobOf('a', [...BORN, ['delivered', 100], ['delivery_timeout', 2_099]])], []),
  ],
  [
    'never-early',
    'an attempt that was kept alive',
    /dead \(a\.4\) came/,
    recordOf([dead(TIMED_OUT, 1_300)], [callOf('keepalive', 'a', 900)]),
  ],
  ['lateness', 'a time-out more than 2 s late', /came 2001 ms late/, recordOf([dead(TIMED_OUT, 3_201)], [])],
  [
    'lateness',
    'a time-out more than 5 s after an outage',
    /late/,
    recordOf([dead(TIMED_OUT, 9_001)], [], outage(['redis'], 1_000, 4_000)),
  ],
  ['drained', 'a job that nobody gets', /still pending/, recordOf([quiet], [createOf(quiet)])],
  [
    'drained',
    'a deadline in the past',
    /still running in the end, and overdue by 1000 ms/,
    recordOf([jobOf('a', RUNS, { status: 'running', deadline: START + 59_000 })], []),
  ],
  [
    'answers',
    'a slow answer',
    /took 2600 ms/,
    life(completed(), callOf('keepalive', 'a', 300, { answeredAt: START + 2_900 })),
  ],
  [
    'answers',
    'no answer of an API that is there',
    /not served/,
    {
      ...life(completed(), callOf('keepalive', 'a', 300, { ...UNKNOWN, status: null, code: null })),
      ...outage(['redis'], 100, 6_999),
    },
  ],
  ['answers', 'a bug', /answered 500/, life(completed(), callOf('keepalive', 'a', 300, { ...UNKNOWN, status: 500 }))],
  ['answers', 'a 503 while all is well', /nothing kept it/, life(completed(), callOf('keepalive', 'a', 300, UNKNOWN))],
  [
    'answers',
    'a 503 long after an outage',
    /nothing kept it/,
    { ...life(completed(), callOf('keepalive', 'a', 9_000, UNKNOWN)), ...outage(['redis'], 100, 6_999) },
  ],
  [
    'answers',
    'a job that is unknown',
    /refused: 404/,
    life(completed(), callOf('keepalive', 'a', 300, { ...REFUSED, status: 404 })),
  ],
  [
    'deliveries',
    'a delivery at another time than that of the answer that was lost',
    /delivered at 2026-01-01T12:00:02.200Z, which came to no client/,
    {
      ...recordOf([jobOf('a', redelivered)], [pollOf('a', 99), callOf('poll', null, 2_300, UNKNOWN)]),
      ...outage(['redis'], 2_290, 2_310),
    },
  ],
  [
    'deliveries',
    'two deliveries to one who asked for one job',
    /delivered at/,
    {
      ...recordOf(
        [jobOf('a', [...BORN, ['delivered', 100]]), jobOf('b', [...BORN, ['delivered', 100]])],
        [callOf('poll', null, 99, UNKNOWN)],
      ),
      ...outage(['redis'], 90, 110),
    },
  ],
  [
    'answers',
    'a 503 of an API that has its Redis',
    /nothing kept it/,
    {
      ...life(completed(), callOf('keepalive', 'a', 300, UNKNOWN)),
      ...outage(['redis'], 100, 6_999, { hit: ['api-2'] }),
    },
  ],
  [
    'answers',
    'a 503 while the other API is gone',
    /nothing kept it/,
    {
      ...life(completed(), callOf('keepalive', 'a', 300, UNKNOWN)),
      ...outage(['api'], 100, 6_999, { hit: ['api-2'] }),
    },
  ],
  [
    'answers',
    'no room in a Redis that has some',
    /nothing kept it/,
    {
      ...life(completed(), callOf('logs', 'a', 300, { ...UNKNOWN, code: 'STORAGE_FULL' })),
      ...outage(['redis'], 100, 6_999),
    },
  ],
  [
    'deliveries',
    'a delivery long after a lost answer, while Redis is away from the API that lost it and stands still for nobody',
    /delivered at 2026-01-01T12:00:09.000Z, which came to no client/,
    {
      ...recordOf([jobOf('a', [...BORN, ['delivered', 9_000]])], [callOf('poll', null, 99, UNKNOWN)]),
      ...outage(['redis'], 90, 10_000, { hit: ['api-1'] }),
    },
  ],
  [
    'lateness',
    'a time-out that is late while Redis is away from others than schedulers',
    /came 2800 ms late/,
    { ...recordOf([dead(TIMED_OUT, 4_000)], started(dead({}))), ...outage(['redis'], 0, 3_900, { hit: ['api-1'] }) },
  ],
];

/** What looks bad and is not. */
export const ALLOWED: readonly Allowed[] = [
  [
    'deliveries',
    'a delivery whose answer was lost',
    {
      ...recordOf(
        [jobOf('a', [...redelivered, ['killed', 2_300, { reason: 'no' }]], { status: 'killed' })],
        [createOf(killed()), callOf('poll', null, 99, UNKNOWN), pollOf('a', 2_199), kill('no')],
      ),
      ...outage(['redis'], 90, 110),
    },
  ],
  ['never-early', 'a time-out as soon as may be', recordOf([dead(TIMED_OUT, 1_201)], started(dead({})))],
  [
    'lateness',
    'a time-out after an outage',
    recordOf([dead(TIMED_OUT, 8_999)], started(dead({})), outage(['scheduler'], 1_000, 4_000)),
  ],
  [
    'lateness',
    'a time-out that a keepalive put off',
    recordOf([dead(TIMED_OUT, 3_500)], [...started(dead({})), callOf('keepalive', 'a', 900)]),
  ],
  ['drained', 'what has ended', life()],
  [
    'answers',
    'a 503 just after an outage',
    { ...life(completed(), callOf('keepalive', 'a', 8_999, UNKNOWN)), ...outage(['redis'], 100, 6_999) },
  ],
  [
    'answers',
    'a refusal that its client expects',
    life(completed(), callOf('keepalive', 'a', 300, { ...REFUSED, status: 401, mayBe: [401] })),
  ],
  [
    'answers',
    'a 503 of the API that Redis is away from',
    {
      ...life(completed(), callOf('keepalive', 'a', 300, UNKNOWN)),
      ...outage(['redis'], 100, 6_999, { hit: ['api-1'] }),
    },
  ],
  [
    'answers',
    'no room in a full Redis',
    {
      ...life(completed(), callOf('logs', 'a', 300, { ...UNKNOWN, code: 'STORAGE_FULL' })),
      ...outage(['room'], 100, 6_999),
    },
  ],
];
