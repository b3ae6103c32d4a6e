import type { Allowed, Broken } from './examples.js';
import {
  COMPLETES,
  completed,
  HANGING,
  kill,
  killed,
  life,
  NOT_SENT,
  outage,
  owed,
  owing,
  SENT,
  URL,
} from './lives.js';
import { callbackOf, createOf, recordOf } from './made-up.js';

/** Of callbacks: what breaks a rule. */
export const BROKEN: readonly Broken[] = [
  ['callbacks', 'a callback that never came', /never came/, life(owing())],
  [
    'callbacks',
    'a callback whose attempt is not recorded',
    /no attempt/,
    life(completed(COMPLETES, { callbackUrl: URL }), callbackOf(completed(), 600)),
  ],
  [
    'callbacks',
    'a callback of a killed job',
    /a callback came for it, and it is killed/,
    recordOf([killed()], [createOf(killed()), kill('no'), callbackOf(killed(), 600)]),
  ],
  ['callbacks', 'a callback before the end', /before its end/, life(owing(), callbackOf(owing(), 400))],
  [
    'callbacks',
    'two ids',
    /several ids/,
    life(owing(), callbackOf(owing(), 600), callbackOf(owing(), 601, { id: 'other' })),
  ],
  [
    'callbacks',
    'another end',
    /another end/,
    life(owing(), callbackOf(owing(), 600, { body: { status: 'dead', result: null } })),
  ],
  [
    'callbacks',
    'a callback that comes again and again',
    /2 callbacks came, 1 are recorded/,
    life(owing(), callbackOf(owing(), 600), callbackOf(owing(), 601)),
  ],
  [
    'callbacks',
    'an attempt that failed and was the only one',
    /given up after 1 attempts/,
    life(owing({ events: owed(['callback_sent', 600, { ...SENT, statusCode: 503 }]) }), callbackOf(owing(), 600)),
  ],
  [
    'callbacks',
    'a second attempt that comes at once',
    /attempt 2 at its callback came after 700 ms, and not after 800/,
    life(
      owing({ events: owed(['callback_failed', 600, NOT_SENT], ['callback_sent', 1_300, { ...SENT, attempt: 2 }]) }),
      callbackOf(owing(), 1_300),
    ),
  ],
  [
    'callbacks',
    'another attempt after one that was taken',
    /attempt 2 at its callback came after one that had settled it/,
    life(
      owing({ events: owed(['callback_sent', 600, SENT], ['callback_sent', 2_000, { ...SENT, attempt: 2 }]) }),
      callbackOf(owing(), 600),
      callbackOf(owing(), 2_000),
    ),
  ],
  ['callbacks', 'a debt for ever', /not settled/, life(owing({ isOwed: true }), callbackOf(owing(), 600))],
  [
    'callbacks',
    'a callback that is repeated long after its scheduler was killed',
    /2 callbacks came, 1 are recorded/,
    {
      ...life(owing(), callbackOf(owing(), 9_000), callbackOf(owing(), 9_001)),
      ...outage(['scheduler'], 600, 700),
    },
  ],
  [
    'callbacks',
    'a callback that is repeated since a scheduler was told to stop, though its receiver answers',
    /2 callbacks came, 1 are recorded/,
    {
      ...life(owing(), callbackOf(owing(), 600), callbackOf(owing(), 601)),
      ...outage(['hanging callbacks'], 600, 700),
    },
  ],
  [
    'callbacks',
    'a callback to a receiver that hangs, which is repeated while nobody was told to stop',
    /2 callbacks came, 1 are recorded/,
    {
      ...life(owing({ callbackUrl: HANGING }), callbackOf(owing(), 600), callbackOf(owing(), 15_600)),
      ...outage(['gateway'], 4_000, 5_000),
    },
  ],
];

/** What looks bad and is not. */
export const ALLOWED: readonly Allowed[] = [
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
  [
    'callbacks',
    'a callback to a receiver that hangs, which is repeated since its scheduler was told to stop',
    {
      ...life(owing({ callbackUrl: HANGING }), callbackOf(owing(), 600), callbackOf(owing(), 15_600)),
      ...outage(['hanging callbacks'], 4_000, 5_000),
    },
  ],
];
