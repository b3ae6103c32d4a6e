import type { Random } from '../logs/random.js';

/** What is asked for, and what that is to the service. */
export interface Target {
  /** With `{job}` for the id of the job. */
  text: string;
  /**
   * `row`: the endpoint, however it is written. `path`: the endpoint, but for a fault in the path. `space`: its space is none. `job`: its job is none.
   * `key`: its API key is none. `nothing`: no endpoint. `unclear`: a path that may be read one way or another.
   */
  is: 'row' | 'path' | 'space' | 'job' | 'key' | 'nothing' | 'unclear';
}

const NO_SPACES = ['a b', 'a/b', 'ä', '\0', '{', '*', 'a'.repeat(129), '🚂', '\r\n', '@', 'a,b', "'", '%'];
const NO_IDS = [
  ...[
    'a',
    '__proto__',
    'constructor',
    '00',
    `00${'a'.repeat(26)}`,
    `00${'A'.repeat(26)}`,
    `zz${'a'.repeat(26)}`,
    `40${'a'.repeat(26)}`,
    `00${'a'.repeat(27)}`,
  ],
  ...[
    '\0',
    `00${'a'.repeat(25)}\0`,
    '{',
    '}',
    '{00}:job:a',
    '🚂',
    'a/b',
    ' ',
    '\r\n',
    '*',
    'a'.repeat(3_000),
    '%',
    '-1',
    'null',
    'undefined',
    '1e3',
    '..',
    '.',
  ],
];

/** Some of its characters written as `%xx`. */
const encodedSome = (random: Random, text: string) =>
  [...text].map((each) => (random.chance(0.3) ? `%${each.charCodeAt(0).toString(16)}` : each)).join('');

/** Every byte that means something in a path, and `.`, which clients and servers take for a folder, as `%xx`. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll('.', '%2e').replaceAll('*', '%2a').replaceAll("'", '%27');

const ID = /:(spaceId|jobId|keyId)/;

/** The path of a row with its parameter, as everybody writes it. */
export const plain = (path: string, space: string): string =>
  path.replace(':spaceId', space).replace(':jobId', '{job}').replace(':keyId', '{key}');

function noId(random: Random, path: string, [, name]: RegExpExecArray): Target {
  const [is, odd] =
    name === 'spaceId'
      ? (['space', NO_SPACES] as const)
      : name === 'jobId'
        ? (['job', NO_IDS] as const)
        : (['key', NO_IDS] as const);
  return { text: path.replace(ID, () => encoded(random.of(odd))), is };
}

/** The path of a row, written in another way, or of nothing at all. */
export function oddTarget(random: Random, path: string, space: string): Target {
  const usual = plain(path, space);
  const id = ID.exec(path);
  const die = random.below(id === null ? 5 : 9);
  if (die === 0) return { text: `${usual}/`, is: 'row' };
  if (die === 1) return { text: `http://127.0.0.1${usual}`, is: 'row' };
  if (die === 2) {
    const odd = [
      `${usual}//`,
      `/${usual}`,
      `${usual}/x/y`,
      usual.toUpperCase(),
      `/x${usual}`,
      '/',
      '/api/v1',
      '/api/v2/keys',
      '/%2e%2e/x',
      '/.env',
      '/favicon.ico',
      '/api/v1/realtime/x',
    ];
    return { text: random.of(odd), is: 'nothing' };
  }
  if (die === 3)
    return {
      text: `${usual}${random.of(['#x', '%2f', ';a=b', '%20', '%00', '\\', '|', '"', '<', '^', '`', '%0a', '..', '/.', '/..', '%', '%zz', '%ff'])}`,
      is: 'unclear',
    };
  if (die === 4)
    return {
      text: random.of([
        '*',
        'x',
        `//${usual}`,
        '?',
        `/${'a/'.repeat(4_000)}`,
        '/\x80\xff',
        `${usual}\xe9`,
        '/%',
        '/a?b?c',
        'ftp://x/y',
      ]),
      is: 'unclear',
    };
  if (die === 5)
    return {
      text: path.replace(ID, () => random.of(['%', '%z', '%e2%82', '%ff', '%c0%80', '%ed%a0%80', 'a%'])),
      is: 'path',
    };
  if (die === 6)
    return {
      text: path.replace(
        ID,
        id?.[1] === 'spaceId' ? encodedSome(random, space) : id?.[1] === 'jobId' ? '{encodedJob}' : '{key}',
      ),
      is: 'row',
    };
  return noId(random, path, id as RegExpExecArray);
}
