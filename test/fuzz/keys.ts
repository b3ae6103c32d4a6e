import type { Scope } from '@yardmaster/protocol';
import type { Random } from '../logs/random.js';

/** Space of every job that a request names. */
export const JOBS_SPACE = 'fuzz.jobs:A-1';

/** Space of every request that names a space: whoever polls it must not get the jobs of the others. */
export const CALLS_SPACE = 'fuzz_calls';

/** The keys of a run. `scopes` null: all, as the admin's. */
export const KEYS = {
  admin: { scopes: null, spaceId: null },
  worker: { scopes: ['jobs:worker'], spaceId: null },
  reader: { scopes: ['jobs:read:progress'], spaceId: null },
  ofJobs: { scopes: ['jobs:worker', 'jobs:create', 'jobs:kill'], spaceId: JOBS_SPACE },
  ofCalls: { scopes: ['jobs:worker', 'jobs:create', 'jobs:kill'], spaceId: CALLS_SPACE },
  expired: { scopes: ['jobs:worker'], spaceId: null, is: 'expired' },
  revoked: { scopes: ['jobs:worker'], spaceId: null, is: 'revoked' },
} as const satisfies Record<string, { scopes: readonly Scope[] | null; spaceId: string | null; is?: string }>;

export type KeyName = keyof typeof KEYS;

/** The lines of the key in a head. */
export interface Presented {
  name: KeyName | null;
  /** With `{admin}` for the text of that key, and so on. */
  lines: [name: string, value: string][];
}

export const ADMIN: Presented = { name: 'admin', lines: [['x-api-key', '{admin}']] };

const NO_KEYS: Presented['lines'][] = [
  [],
  ...[
    '',
    'x',
    'ym_',
    'ym__',
    `ym_${'a'.repeat(20)}_${'b'.repeat(43)}`,
    'ym_a_b_c_d',
    '{admin}x',
    '{worker}x',
    'Bearer {admin}',
    '"{admin}"',
    '__proto__',
    'ym___proto___x',
  ].map((text): Presented['lines'] => [['x-api-key', text]]),
  ...['k'.repeat(9_000), '\x80\xff\xe9', '{admin},{admin}', 'undefined', 'null', '*', '%00', '{00}'].map(
    (text): Presented['lines'] => [['x-api-key', text]],
  ),
  [
    ['x-api-key', '{admin}'],
    ['x-api-key', '{admin}'],
  ],
  [['authorization', 'Bearer {admin}']],
  [['x_api_key', '{admin}']],
];

export function oddKey(random: Random): Presented {
  if (random.chance(0.4)) return { name: null, lines: random.of(NO_KEYS) };
  const name = random.of(Object.keys(KEYS) as KeyName[]);
  return {
    name,
    lines: [
      [
        random.of(['x-api-key', 'X-API-KEY', 'X-Api-Key']),
        `${random.of(['', ' ', '\t'])}{${name}}${random.of(['', ' '])}`,
      ],
    ],
  };
}
