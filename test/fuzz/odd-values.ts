import type { Random } from '../logs/random.js';
import { type Written, written } from './json-text.js';

/** Numbers at the ends of what a field, a double or an integer may be. */
const NUMBERS =
  `0 -0 -0.0 1 -1 0.1 1e-400 1e400 -1e400 1e308 9007199254740991 9007199254740992 9007199254740993 -9007199254740993
  2147483647 2147483648 4294967296 1e21 1E2 100 100.0 100.00000000000001 101 99.99999 50 50.5 51 0.0000001 86400 86400.001 86401
  5e-324 1e+5 3 123456789012345678901234567890`.split(/\s+/);

/** What other languages would read, and JSON does not. */
const NO_JSON = [
  ...'NaN Infinity -Infinity undefined 01 .5 1. +1 0x10 1_000 1n True None nil - -- e1'.split(' '),
  "'a'",
  '"\\x41"',
  '"\\ud8"',
  '"\t"',
  '"\u0000"',
  '"a',
  '/* no */1',
];

const OTHERS = ['null', 'true', 'false', '{}', '[]', '[null]', '[[]]', '{"":{}}', '""', '[{}]'];

const CONTROLS = ['\0', 'a\0b', '\u0001\u001f', 'a\u007f', '\r\nx-injected: 1', 'a\n', '\u0085'];

/** Halves of characters, which UTF-8 has not. */
const HALVES = ['\ud800', '\udc00a', 'a\udbff', '\udc00\ud800', 'a\ud800b'];

/** Texts of one kind each: which kind is drawn first, so that a kind of few is as likely as one of many. */
const TEXTS: readonly (readonly string[])[] = [
  [
    '',
    ' ',
    '\t\n',
    'a',
    '0',
    '1',
    '-1',
    'null',
    'true',
    'NaN',
    '1e400',
    '[object Object]',
    'info',
    'fatal',
    'INFO',
    'demo',
  ],
  ['a,b', 'a/b', '..', '.', '%00', '%', '+', '"', "'", '\\', '{"a":1}', '<script>', "';--", '{{7*7}}', '$ne'],
  [
    '\ufeff',
    '\ufffe\uffff',
    '\u202egnp.exe',
    'אבג 123 دخل',
    'e\u0301',
    '\u2028\u2029',
    '🚂',
    '👩‍👩‍👧‍👦',
    '日本語',
    'ß',
    'İ',
    'ſ',
    'ÿ',
    'Ā',
  ],
  ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf'],
  ...[
    ['x'.repeat(127), 'x'.repeat(128), 'x'.repeat(129), 'é'.repeat(128), '🚂'.repeat(128), '🚂'.repeat(129)],
    ['x'.repeat(2_048), 'x'.repeat(2_049), '\0'.repeat(500), '"'.repeat(9_000), 'ab '.repeat(300)],
  ],
  [
    ...[
      'http://a.example/',
      'https://a.example:8443/x?y=1#z',
      'http://user@a.example/',
      'http://u:p@a.example',
      'http://@a.example',
    ],
    ...[
      'ftp://a.example',
      'http:a.example',
      'http://a.example/ b',
      'http://[::1]/',
      'http://[::1',
      'http://a.example:99999/',
    ],
    ...[
      'javascript:alert(1)',
      ' http://a.example',
      'http://a.example/\ud800',
      '//a.example',
      `http://a.example/${'x'.repeat(2_031)}`,
      `http://a.example/${'x'.repeat(2_032)}`,
    ],
  ],
  [
    ...[
      '2026-01-31T10:30:04.784Z',
      '2026-01-31T10:30:04+01:00',
      '2026-01-31',
      '2026-13-01T00:00:00Z',
      '2026-01-31T25:00:00Z',
    ],
    ...['2026-02-30T00:00:00Z', '2026-01-31T10:30:04', '-000001-01-01T00:00:00Z', '9999-12-31T23:59:59.999-23:59'],
    ...['0000-01-01T00:00:00+23:59', '2026-01-31 10:30:04,5+0100', 'yesterday', '1769855404784'],
  ],
  ['jobs:read', 'keys:manage', 'jobs:worker', 'jobs:*', 'pending'],
];

/** A string as JSON writes it, or every character of it as an escape. */
const quoted = (random: Random, text: string) =>
  random.chance(0.15)
    ? `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(text);

/** Nesting of so many levels. */
export function nested(levels: number, kind: 'array' | 'object' = 'array'): Written {
  const [open, close] = kind === 'array' ? ['[', ']'] : ['{"a":', '}'];
  const inner = kind === 'array' ? '' : '0';
  return { text: `${open.repeat(levels)}${inner}${close.repeat(levels)}` };
}

/** A text that is at home in no field, or in one only. */
export const oddText = (random: Random): string =>
  random.of(random.chance(0.3) ? random.of([CONTROLS, HALVES]) : random.of(TEXTS));

/** Any one of all that a field could be given and should not. */
export function oddValue(random: Random): Written {
  const die = random.below(100);
  if (die < 30) return { text: random.of(NUMBERS) };
  if (die < 65) return { text: quoted(random, oddText(random)) };
  if (die < 85) return { text: random.of(OTHERS) };
  if (die < 90) return { text: random.of(NO_JSON) };
  if (die < 95) return nested(random.of([2, 62, 63, 64, 65, 66, 500]), random.of(['array', 'object']));
  if (die < 97) return { items: Array.from({ length: random.of([49, 50, 51, 100, 101, 999]) }, () => written('a')) };
  return {
    members: Array.from({ length: random.of([20, 21, 50, 51]) }, (_, i) => [`k${i}`, written(oddText(random))]),
  };
}
