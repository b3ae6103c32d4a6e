import { describe, expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { expectedOf } from './expected.js';
import { generate } from './generate.js';
import { QUERY_FIELDS } from './query-readings.js';
import { READ_BACK } from './read-back.js';
import { READINGS } from './readings.js';
import { nameOf, readsBody } from './route-names.js';
import { fieldsOf } from './schema-fields.js';
import { VALID_BODIES } from './valid-bodies.js';

const SEED = 7;
const drawn = Array.from({ length: 3_000 }, (_, index) => generate(SEED, index));

const WITH_BODY = ROUTES.filter(({ body }) => body !== undefined);
const names = (routes: typeof ROUTES) => routes.map(nameOf).sort();

/** Fields of a body that its reading asks for. */
function fieldsRead(name: string): string[] {
  const asked = new Set<string>();
  const body = new Proxy(
    {},
    {
      getOwnPropertyDescriptor: (_, field) => {
        asked.add(String(field));
        return undefined;
      },
    },
  );
  READINGS[name]?.(body);
  return [...asked].sort();
}

it('every endpoint is sent requests, some of them valid', () => {
  expect([...new Set(drawn.map(({ name }) => name))].sort()).toEqual(names(ROUTES));
  const taken = drawn.filter((request) => expectedOf(request).outcomes?.every(({ status }) => status < 300));
  expect([...new Set(taken.map(({ name }) => name))].sort()).toEqual(names(ROUTES));
});

it('a request is the same for the same seed and number', () => {
  expect(generate(SEED, 42)).toEqual(drawn[42]);
  expect(generate(SEED + 1, 42)).not.toEqual(drawn[42]);
});

it('every body has a reading and an example', () => {
  expect(Object.keys(READINGS).sort()).toEqual(names(WITH_BODY));
  expect(Object.keys(VALID_BODIES).sort()).toEqual(names(ROUTES.filter(readsBody)));
});

describe.each(WITH_BODY)('the body of $method $path', (route) => {
  it('is read field by field as its schema says', () => {
    expect(fieldsRead(nameOf(route))).toEqual(fieldsOf(route.body).sort());
  });
});

it('every query is read field by field as its schema says', () => {
  const queries = ROUTES.filter(({ query }) => query !== undefined);
  expect(QUERY_FIELDS).toEqual(Object.fromEntries(queries.map((route) => [nameOf(route), fieldsOf(route.query)])));
});

it('whatever changes something is read back', () => {
  // A callback that is owed, and a key that is gone, are seen by fsck and by the next request.
  const seenElsewhere = ['POST /api/v1/jobs/:jobId/callback/redeliver', 'DELETE /api/v1/keys/:keyId'];
  const changing = ROUTES.filter(({ method }) => method !== 'GET');
  expect([...Object.keys(READ_BACK), ...seenElsewhere].sort()).toEqual(names(changing));
});
