import type { Allowed, Broken } from './examples.js';
import { completed, kill, killed, life, notThere, outage, quiet, RUNS, space } from './lives.js';
import { createOf, recordOf, START, streamOf, withoutKey } from './made-up.js';

/** Of streams: what breaks a rule. */
export const BROKEN: readonly Broken[] = [
  ['streams', 'a gap', /it told completed .* where acked/, life(completed(), streamOf(completed(), [1, 3]))],
  [
    'streams',
    'an event twice',
    /it told delivered .* after delivered/,
    life(completed(), streamOf(completed(), [1, 1, 2, 3])),
  ],
  [
    'streams',
    'what never happened',
    /which never happened/,
    life(completed(), streamOf(completed([...RUNS, ['killed', 400, { reason: 'x' }]]), [3])),
  ],
  [
    'streams',
    'a snapshot that is older than what follows',
    /it began with pending, where the job was delivered/,
    life(
      completed(),
      streamOf(completed(), [2, 3], {
        messages: [
          { type: 'init', status: 'pending', timestamp: new Date(START + 150).toISOString() },
          ...streamOf(completed(), [2, 3]).messages.slice(1),
        ],
      }),
    ),
  ],
  [
    'streams',
    'an end that was not told',
    /it did not tell completed/,
    life(completed(), streamOf(completed(), [1, 2], { closed: null })),
  ],
  [
    'streams',
    'a job of the space that was not told of',
    /it did not tell created/,
    life(
      completed(),
      streamOf(completed(), [], {
        ...space,
        messages: [{ type: 'init', timestamp: new Date(START - 1).toISOString() }],
      }),
    ),
  ],
  [
    'streams',
    'what is for keys only',
    /which never happened/,
    life(completed(), streamOf(completed(), [1, 3], { scope: 'progress' })),
  ],
  [
    'scopes',
    'a snapshot that shows the status to somebody without a key',
    /init with jobId,type,timestamp,status/,
    life(
      completed(),
      streamOf(completed(), [], { scope: 'progress', messages: [withoutKey('init', { status: 'x' })] }),
    ),
  ],
  [
    'scopes',
    'a result that is shown to somebody without a key',
    /completed with jobId,type,timestamp,data/,
    life(
      completed(),
      streamOf(completed(), [], {
        scope: 'progress',
        messages: [withoutKey('init'), withoutKey('completed', { data: 1 })],
      }),
    ),
  ],
  [
    'streams',
    'a watcher who is never told anything',
    /was told nothing/,
    life(completed(), streamOf(completed(), [], { messages: [], closed: null })),
  ],
  [
    'streams',
    'logs with a gap',
    /logs from 4 after 2/,
    life(
      completed(),
      streamOf(completed(), [1, 2, 3], {
        messages: [
          ...streamOf(completed(), [1, 2, 3]).messages,
          ...[
            [1, 2],
            [4, 4],
          ].map(([fromSeq, toSeq]) => ({
            type: 'logs_appended',
            jobId: 'a',
            timestamp: new Date(START + 600).toISOString(),
            data: { fromSeq, toSeq },
          })),
        ],
      }),
    ),
  ],
  [
    'closes',
    'a stream that is cut off while all is well',
    /closed with 1006, for no reason/,
    life(completed(), streamOf(completed(), [1], { closed: 1006 })),
  ],
  [
    'closes',
    'a stream that is cut off with another code than its outage has',
    /closed with 1001, for no reason/,
    { ...life(completed(), streamOf(completed(), [1], { closed: 1001 })), ...outage(['redis'], 4_000, 6_000) },
  ],
  [
    'closes',
    'a stream that says that its job has ended, which it has not',
    /closed as if its job had ended/,
    recordOf([quiet], [createOf(quiet), streamOf(quiet, [])]),
  ],
  [
    'closes',
    'a stream of a space that ends',
    /closed as if that could end/,
    life(completed(), streamOf(completed(), [0, 1, 2, 3], { ...space, closed: 1000 })),
  ],
  [
    'closes',
    'a stream that is cut off while Redis is away from others',
    /closed with 1012, for no reason/,
    {
      ...life(completed(), streamOf(completed(), [1], { closed: 1012 })),
      ...outage(['redis'], 4_000, 6_000, { hit: ['api-1', 'gateway-11'] }),
    },
  ],
  [
    'closes',
    'a stream that is closed at the end of its job, which it has not told',
    /closed at the end, and had not told it/,
    life(completed(), streamOf(completed(), [1, 2])),
  ],
  [
    'closes',
    'a stream that stays open when its job has ended',
    /still open long after the end/,
    life(completed(), streamOf(completed(), [1, 2, 3], { closed: null, until: START + 11_000 })),
  ],
  [
    'closes',
    'a stream that is cut off long after Redis was away',
    /closed with 1012, for no reason/,
    {
      ...life(completed(), streamOf(completed(), [1], { closed: 1012, until: START + 9_000 })),
      ...outage(['redis'], 0, 3_900),
    },
  ],
  [
    'closes',
    'a stream that is cut off as a fault would, when that is over',
    /closed with 1012, for no reason/,
    { ...life(completed(), streamOf(completed(), [1], { closed: 1012 })), ...outage([], 0, 3_900, { closes: [1012] }) },
  ],
];

/** What looks bad and is not. */
export const ALLOWED: readonly Allowed[] = [
  [
    'closes',
    'a stream that is cut off with its gateway',
    { ...life(completed(), streamOf(completed(), [1], { closed: 1006 })), ...outage(['gateway'], 4_000, 6_000) },
  ],
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
    'closes',
    'a stream that is cut off while Redis is away from its gateway',
    {
      ...life(completed(), streamOf(completed(), [1], { closed: 1012 })),
      ...outage(['redis'], 1_000, 2_000, { hit: ['gateway-1'] }),
    },
  ],
  [
    'closes',
    'a stream without a key that is closed at an end which it may not tell',
    {
      ...recordOf(
        [killed()],
        [createOf(killed()), kill('no'), streamOf(killed(), [], { scope: 'progress', messages: [withoutKey('init')] })],
      ),
    },
  ],
  [
    'closes',
    'a stream that is cut off by a fault of its own',
    {
      ...life(completed(), streamOf(completed(), [1], { closed: 1012 })),
      ...outage([], 4_000, 4_500, { closes: [1012] }),
    },
  ],
];
