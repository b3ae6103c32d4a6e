import type { Record } from '../checker.js';
import {
  BORN,
  COMPLETES,
  completed,
  completing,
  dead,
  kill,
  killed,
  life,
  logged,
  logging,
  NOT_SENT,
  notThere,
  outage,
  owed,
  owing,
  RUNS,
  redelivered,
  SENT,
  space,
  started,
  TIMED_OUT,
} from './lives.js';
import {
  callbackOf,
  callOf,
  createOf,
  isoAt,
  jobOf,
  pollOf,
  REFUSED,
  recordOf,
  START,
  streamOf,
  UNKNOWN,
  withoutKey,
} from './made-up.js';

/** What looks bad and is not. */
export const ALLOWED: [rule: string, what: string, record: Record][] = [
  [
    'creates',
    'a job of a creation whose answer was lost',
    {
      ...recordOf([killed()], [createOf(killed(), { ...UNKNOWN, jobId: null }), kill('no')]),
      ...outage(['redis'], 0, 10),
    },
  ],
  [
    'creates',
    'no job of a creation whose answer was lost',
    { ...recordOf([], [createOf(killed(), { ...UNKNOWN, jobId: null })]), ...outage(['redis'], 0, 10) },
  ],
  [
    'hand-outs',
    'one attempt that is handed out again after its window',
    recordOf(
      [jobOf('a', [...redelivered, ['killed', 2_300, { reason: 'no' }]], { status: 'killed' })],
      [createOf(killed()), pollOf('a', 99), pollOf('a', 2_199), kill('no')],
    ),
  ],
  [
    'handed',
    'the checkpoint of the attempt before, to somebody who asked for its name',
    recordOf(
      [
        jobOf(
          'a',
          [
            ...RUNS,
            ['checkpoint', 300, { token: 'x' }],
            ['retried', 400, { error: 'x', attemptNumber: 1 }],
            ['delivered', 500],
            ['killed', 600, { reason: 'no' }],
          ],
          { status: 'killed', maxRetries: 1 },
        ),
      ],
      [
        createOf(jobOf('a', RUNS, { maxRetries: 1 })),
        pollOf('a', 99, { maxRetries: 1 }),
        callOf('ack', 'a', 199),
        callOf('checkpoint', 'a', 299, { sent: { token: 'x' } }),
        callOf('fail', 'a', 399, { sent: { error: 'x' } }),
        {
          ...pollOf('a', 499, { maxRetries: 1, attemptNumber: 1, checkpoint: { token: 'x' } }),
          sent: { count: 1, types: ['work', 'crop'] },
        },
        kill('no'),
      ],
    ),
  ],
  [
    'order',
    'an older job of a name that was not asked for',
    recordOf(
      [
        jobOf('a', [...BORN, ['killed', 90, { reason: 'no' }]], { status: 'killed', name: 'crop' }),
        jobOf(
          'b',
          [
            ['created', 10],
            ['delivered', 50],
            ['killed', 90, { reason: 'no' }],
          ],
          { status: 'killed' },
        ),
      ],
      [
        createOf(jobOf('a', BORN, { name: 'crop' })),
        createOf(jobOf('b', [['created', 10]])),
        { ...pollOf('b', 49, { createdAt: isoAt(10) }), sent: { types: ['work'] } },
        kill('no'),
        { ...kill('no'), jobId: 'b' },
      ],
    ),
  ],
  ['transitions', 'callbacks after the end', life(owing(), callbackOf(owing(), 600))],
  [
    'attempts',
    'a death after the last attempt',
    recordOf([dead({ error: 'x' })], [...started(dead({})), callOf('fail', 'a', 499, { sent: { error: 'x' } })]),
  ],
  [
    'effects',
    'a call of unknown outcome that happened',
    {
      ...life(
        completed([...RUNS, ['event', 300, { token: 'x' }], ...COMPLETES.slice(3)]),
        callOf('event', 'a', 299, { sent: { token: 'x' }, ...UNKNOWN }),
      ),
      ...outage(['redis'], 290, 310),
    },
  ],
  [
    'effects',
    'a call of unknown outcome that did not happen',
    {
      ...life(completed(), callOf('event', 'a', 299, { sent: { token: 'x' }, ...UNKNOWN })),
      ...outage(['api'], 290, 310),
    },
  ],
  ['effects', 'a second kill', recordOf([killed()], [createOf(killed()), kill('no'), kill('again')])],
  [
    'results',
    'a completion that was refused',
    life(completed(), completing({ ...REFUSED, sent: { result: { token: 'other' } } })),
  ],
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
  [
    'logs',
    'batches of several',
    life(
      logged('x 1', 'x 2', 'y'),
      logging(),
      callOf('logs', 'a', 310, { sent: ['y'], body: { fromSeq: 3, toSeq: 3 } }),
    ),
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
    'callbacks',
    'a callback that gets through at the second attempt',
    life(
      owing({ events: owed(['callback_failed', 600, NOT_SENT], ['callback_sent', 1_400, { ...SENT, attempt: 2 }]) }),
      callbackOf(owing(), 1_400),
    ),
  ],
  [
    'callbacks',
    'a callback that is repeated since its scheduler was killed',
    { ...life(owing(), callbackOf(owing(), 600), callbackOf(owing(), 601)), ...outage(['scheduler'], 600, 700) },
  ],
  ['streams', 'a stream that is cut off', life(completed(), streamOf(completed(), [1], { closed: 1006 }))],
  [
    'streams',
    'a stream that begins late',
    life(
      completed(),
      streamOf(completed(), [3], {
        messages: [
          { type: 'init', status: 'running', timestamp: new Date(START + 200).toISOString() },
          ...streamOf(completed(), [3]).messages.slice(1),
        ],
      }),
    ),
  ],
  ['streams', 'all of a space', life(completed(), streamOf(completed(), [0, 1, 2, 3], space))],
  [
    'scopes',
    'how far a job is, and that it is done, to somebody without a key',
    life(
      completed(),
      streamOf(completed(), [], {
        scope: 'progress',
        messages: [withoutKey('init', { progress: { percent: 1, message: 'x' } }), withoutKey('completed')],
      }),
    ),
  ],
  [
    'streams',
    'a watcher of a job that is gone again, who is told nothing',
    { ...notThere, entries: [streamOf(completed(), [], { messages: [], closed: null })] },
  ],
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
  ['event-seq', 'two events of a millisecond', life(completed([...RUNS, ['completed', 200, { token: 'done' }]]))],
  ['fsck', 'a Redis that agrees with itself', notThere],
];
