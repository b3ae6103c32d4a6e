import type { Random } from '../logs/random.js';
import { oddText } from './odd-values.js';

export interface Query {
  /** As it stands behind the `?`. */
  text: string;
  /** What it says; null when it is written so that nobody can tell. */
  pairs: [name: string, value: string][] | null;
}

/** Values by what they could be meant for: the kind is drawn first. */
const VALUES: readonly (readonly string[])[] = [
  ['0', '-1'],
  ['1', '5', '50', '100', '101', '500', '501', '1000'],
  [
    '',
    '1e2',
    '1.0',
    '1.5',
    '+1',
    ' 1',
    '1 ',
    '0x10',
    '007',
    '9007199254740993',
    '9'.repeat(400),
    'NaN',
    'Infinity',
    '-0',
    '١',
    '1,2',
  ],
  [
    'null',
    'true',
    '[]',
    '{}',
    'pending',
    'PENDING',
    'running',
    'killed',
    'pending,dead',
    'unknown',
    'work',
    '__proto__',
  ],
  ['info', 'info,warn', 'warn,,error', ' info , error ', 'INFO', ',', 'fatal,notice'],
  ['disk "no space"', '"', '""', '.*', '\\', 'a '.repeat(31), 'a '.repeat(33), 'x'.repeat(500), 'x'.repeat(501)],
];

const NAMES = [
  'status',
  'limit',
  'offset',
  'after',
  'before',
  'level',
  'q',
  'name',
  'names',
  'Limit',
  'limit[]',
  'limit[a]',
  'x',
  '__proto__',
  'constructor',
  '',
];

const encoded = (random: Random, text: string) => {
  const plain = encodeURIComponent(text.toWellFormed());
  return random.chance(0.3) ? plain.replaceAll('%20', '+') : plain;
};

/** Odd values for what an endpoint takes as its query, and for what it does not. */
export function oddQuery(random: Random, fields: readonly string[]): Query {
  if (random.chance(0.06)) {
    const text = random.of([
      '&',
      '=',
      '&&=&',
      '%',
      'limit=%',
      'q=%ff',
      'limit=%31',
      'level=%zz',
      '?limit=1',
      '#',
      'limit',
      'a=b=c',
      `q=${'%00'}`,
      `${'limit=1&'.repeat(1_100)}x`,
      '%e9=1',
    ]);
    return { text, pairs: null };
  }
  const count = random.of([0, 1, 1, 1, 2, 2, 3, 6]);
  const pairs = Array.from({ length: count }, (): [string, string] => [
    fields.length > 0 && random.chance(0.85) ? random.of(fields) : random.of(NAMES),
    (random.chance(0.8) ? random.of(random.of(VALUES)) : oddText(random)).toWellFormed(),
  ]);
  if (random.chance(0.15)) pairs.push(...pairs.slice(0, 1));
  if (random.chance(0.02)) pairs.push(...Array.from({ length: 101 }, (): [string, string] => ['name', 'a']));
  return { text: pairs.map(([name, value]) => `${encoded(random, name)}=${encoded(random, value)}`).join('&'), pairs };
}
