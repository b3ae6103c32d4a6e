import type { Allowed, Broken } from './examples.js';
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
  notThere,
  outage,
  owing,
  RUNS,
  redelivered,
  started,
  TIMED_OUT,
} from './lives.js';
import { callbackOf, callOf, createOf, isoAt, jobOf, logOf, pollOf, REFUSED, recordOf, UNKNOWN } from './made-up.js';

/** Of jobs and their work: what breaks a rule. */
export const BROKEN: readonly Broken[] = [
  ['creates', 'a job that was answered and is gone', /is not there/, recordOf([], [createOf(completed())])],
  ['creates', 'a job that nobody asked for', /nobody asked/, recordOf([killed()], [])],
  [
    'creates',
    'two jobs of one creation',
    /1 creations made 2 jobs/,
    recordOf([killed(), { ...killed(), id: 'b' }], [createOf(killed(), { ...UNKNOWN, jobId: null })]),
  ],
  [
    'hand-outs',
    'one delivery that came to two',
    /delivered 1 times and handed out 2/,
    life(completed(), pollOf('a', 98)),
  ],
  [
    'handed',
    'a checkpoint that the next attempt is not told',
    /attempt 1 was handed out with another checkpoint/,
    recordOf(
      [
        jobOf('a', [
          ...RUNS,
          ['checkpoint', 300, { token: 'x' }],
          ['retried', 400, { error: 'x', attemptNumber: 1 }],
          ['delivered', 500],
        ]),
      ],
      [pollOf('a', 99), pollOf('a', 499, { attemptNumber: 1 })],
    ),
  ],
  ['handed', 'another payload', /with another payload/, life(completed(), pollOf('a', 99, { payload: { n: 'b' } }))],
  [
    'handed',
    'a job of another name than was asked for',
    /who asked for crop/,
    life(completed(), { ...pollOf('a', 99), sent: { count: 1, types: ['crop'] } }),
  ],
  [
    'handed',
    'a job of another space',
    /handed out in elsewhere/,
    life(completed(), { ...pollOf('a', 99), spaceId: 'elsewhere' }),
  ],
  [
    'order',
    'a job that is handed out before an older one',
    /before a, which is older/,
    recordOf(
      [
        completed(),
        jobOf('b', [
          ['created', 10],
          ['delivered', 50],
        ]),
      ],
      [pollOf('b', 49)],
    ),
  ],
  [
    'transitions',
    'an end after the end',
    /killed \(a\.5\) while it was completed/,
    life(completed([...COMPLETES, ['killed', 600, { reason: 'x' }]])),
  ],
  ['transitions', 'a status that is not that of the history', /its history says running/, life(completed(RUNS))],
  [
    'transitions',
    'a second delivery without a time-out',
    /delivered/,
    life(completed([...RUNS.slice(0, 2), ...COMPLETES.slice(1)])),
  ],
  [
    'attempts',
    'more attempts than allowed',
    /2 attempts, where 1/,
    life(completed([...RUNS, ['retried', 300, { error: 'x', attemptNumber: 1 }], ...COMPLETES.slice(1)])),
  ],
  [
    'attempts',
    'an attempt that was not counted',
    /attemptNumber is 0/,
    life(completed(COMPLETES, { attemptNumber: 0 })),
  ],
  [
    'attempts',
    'a death with retries left',
    /with retries left/,
    recordOf([{ ...dead(TIMED_OUT, 1_300), maxRetries: 3 }], []),
  ],
  [
    'effects',
    'a report that was answered and left nothing',
    /progress of x was answered 2xx/,
    life(completed(), callOf('progress', 'a', 300, { sent: { message: 'x' } })),
  ],
  [
    'effects',
    'a report that happened twice',
    /happened 2 times/,
    life(
      completed([...RUNS, ['event', 300, { token: 'x' }], ['event', 301, { token: 'x' }], ...COMPLETES.slice(3)]),
      callOf('event', 'a', 300, { sent: { token: 'x' }, ...UNKNOWN }),
    ),
  ],
  [
    'effects',
    'a call that was refused, and happened',
    /refused, and happened/,
    recordOf([killed()], [createOf(killed()), kill('no', REFUSED)]),
  ],
  ['effects', 'an effect without a call', /nobody asked for it/, recordOf([killed()], [createOf(killed())])],
  [
    'effects',
    'an ack that was answered and left nothing',
    /2 acks were answered 2xx, 1 happened/,
    life(completed(), callOf('ack', 'a', 201)),
  ],
  ['results', 'another result', /another result/, life(completed(COMPLETES, { result: { token: 'other' } }))],
  ['results', 'a killed job that is not', /it was killed, and is completed/, life(completed(), kill('no'))],
  [
    'results',
    'another payload',
    /its payload/,
    recordOf([killed()], [createOf({ ...killed(), payload: { n: 'a', x: 1 } }), kill('no')]),
  ],
  ['logs', 'a batch that is gone', /are gone/, life(completed(), logging())],
  [
    'logs',
    'a batch that is there twice',
    /are there twice/,
    life(logged('x 1', 'x 2', 'x 1', 'x 2'), logging(UNKNOWN)),
  ],
  ['logs', 'half a batch', /in part/, life(logged('x 1'), logging(UNKNOWN))],
  [
    'logs',
    'a gap',
    /log 3 is in place 2/,
    life(completed(COMPLETES, { logs: [logOf('a', 1, 'x 1'), logOf('a', 3, 'x 2')] }), logging(UNKNOWN)),
  ],
  [
    'event-seq',
    'a gap',
    /event a\.3 is in place 2/,
    life({ ...completed(), events: completed().events.filter((_, i) => i !== 1) }),
  ],
  ['fsck', 'what disagrees', /missing: x/, { ...notThere, dump: { ...notThere.dump, fsck: ['missing: x'] } }],
];

/** What looks bad and is not. */
export const ALLOWED: readonly Allowed[] = [
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
      ...outage(['redis'], 290, 310),
    },
  ],
  ['effects', 'a second kill', recordOf([killed()], [createOf(killed()), kill('no'), kill('again')])],
  [
    'results',
    'a completion that was refused',
    life(completed(), completing({ ...REFUSED, sent: { result: { token: 'other' } } })),
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
  ['event-seq', 'two events of a millisecond', life(completed([...RUNS, ['completed', 200, { token: 'done' }]]))],
  ['fsck', 'a Redis that agrees with itself', notThere],
];
