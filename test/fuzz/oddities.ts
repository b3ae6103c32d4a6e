import type { Route } from '@yardmaster/api';
import type { Random } from '../logs/random.js';
import { type Body, gzipped, jsonBody, ndjsonBody } from './body.js';
import { brokenText } from './broken-text.js';
import { recoded } from './codings.js';
import { oddFraming, usualFraming } from './framings.js';
import { textOf, type Written, written } from './json-text.js';
import { CALLS_SPACE, oddKey } from './keys.js';
import { mutate } from './mutations.js';
import { oddQuery } from './queries.js';
import { type FuzzRequest, PLACES } from './request.js';
import { readsBody } from './route-names.js';
import { fieldsOf } from './schema-fields.js';
import { sizedBody } from './sizes.js';
import { oddTarget } from './targets.js';
import { VALID_BODIES } from './valid-bodies.js';

type Odd = (random: Random, request: FuzzRequest) => Partial<FuzzRequest>;

/** A body that this endpoint takes; undefined is none. */
export const validBody = (random: Random, name: string): unknown => VALID_BODIES[name]?.(random);

/** A value in a form that its endpoint takes. */
export function bodyOf(random: Random, name: string, value: Written): Body {
  if (name.endsWith('/logs') && 'items' in value && random.chance(0.4))
    return ndjsonBody(value.items.map(textOf).join(random.of(['\n', '\r\n', '\n\n', ' \n \t\n'])));
  return jsonBody(textOf(value));
}

const framed = (random: Random, body: Body | null): Partial<FuzzRequest> => ({
  body,
  framing: usualFraming(random, body?.wire ?? Buffer.alloc(0)),
});

/** All that can be odd about a request, by what it is about. */
export const ODDITIES: Record<string, Odd> = {
  none: () => ({}),
  json: (random, { name, route }) => {
    const value = mutate(random, written(validBody(random, name) ?? {}), fieldsOf(route.body));
    const body = bodyOf(random, name, value);
    return framed(random, random.chance(0.1) ? gzipped(body) : body);
  },
  text: (random, { name, body }) => {
    const text = brokenText(random, body?.text ?? Buffer.from('{}'));
    const broken = name.endsWith('/logs') && random.chance(0.5) ? ndjsonBody(text) : jsonBody(text);
    return framed(random, random.chance(0.1) ? gzipped(broken) : broken);
  },
  size: (random, { name }) => framed(random, sizedBody(random, name, validBody(random, name))),
  coding: (random, { body }) => framed(random, recoded(random, body ?? jsonBody('{}'))),
  path: (random, { route }) => ({ target: oddTarget(random, route.path, CALLS_SPACE) }),
  query: (random, { route }) => ({ query: oddQuery(random, fieldsOf(route.query)) }),
  key: (random) => ({ key: oddKey(random) }),
  framing: (random, { body }) => ({ framing: oddFraming(random, body?.wire ?? Buffer.alloc(0)) }),
  method: (random) => ({
    method: random.of(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'GET', 'POST', 'TRACE', 'PROPFIND', 'M-SEARCH']),
  }),
  id: (random) => ({ requestId: random.of(REQUEST_IDS) }),
  pieces: (random) => ({ pieces: 2 + random.below(6) }),
  place: (random) => ({ place: random.of(PLACES) }),
};

const REQUEST_IDS: [string, string][][] = [
  ...[
    'a',
    'A-1_b.c:d/e',
    '!~',
    'x'.repeat(128),
    'x'.repeat(129),
    'x'.repeat(4_000),
    '',
    'a b',
    'a\tb',
    '\xe9',
    '\x80',
    '"',
    "{'a':1}",
    '<b>',
    '%0d%0a',
    '__proto__',
    'a,b',
  ].map((value): [string, string][] => [['x-request-id', value]]),
  [
    ['x-request-id', 'a'],
    ['X-Request-Id', 'b'],
  ],
];

/** How likely each oddity is, for endpoints that read a body, a query, or neither. */
const WEIGHTS = {
  body: {
    none: 6,
    json: 44,
    text: 11,
    size: 2,
    coding: 9,
    path: 4,
    query: 2,
    key: 4,
    framing: 8,
    method: 2,
    id: 2,
    pieces: 2,
    place: 4,
  },
  query: { none: 4, query: 60, coding: 3, path: 9, key: 5, framing: 8, method: 5, id: 3, pieces: 1, place: 2 },
  neither: {
    none: 10,
    json: 8,
    text: 4,
    coding: 4,
    path: 17,
    query: 5,
    key: 12,
    framing: 15,
    method: 7,
    id: 6,
    pieces: 2,
    place: 10,
  },
};

/** Draw what is to be odd about a request to this endpoint. */
export function oddityFor(random: Random, route: Route): string {
  const weights = WEIGHTS[readsBody(route) ? 'body' : route.query ? 'query' : 'neither'];
  return random.of(Object.entries(weights).flatMap(([oddity, weight]) => Array<string>(weight).fill(oddity)));
}
