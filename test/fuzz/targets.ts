import type { Route } from '@yardmaster/api';
import fc from 'fast-check';
import { mutated, oddText, textOf } from './json-text.js';
import { CALLS_SPACE, SET_SPACE } from './keys.js';
import { fieldsOf, validInput } from './schema-values.js';

type Resource = 'job' | 'key' | 'operation';

/** The target of a request, and how the service reads it. */
export interface Target {
  /** With `{job}`, `{encodedJob}`, `{key}` or `{operation}` for the id of that. */
  text: string;
  /**
   * `row`: the endpoint, in any spelling. `path`: the endpoint, with a fault in the path. `space`, `job`, `key`,
   * `operation`: the id is unknown or invalid. `nothing`: no endpoint. `unclear`: a path with several valid readings.
   */
  is: 'row' | 'path' | 'space' | Resource | 'nothing' | 'unclear';
}

const ID = /:(space|job|key|operation)Id/;

/** Return the path of an endpoint in its usual spelling. */
export const usualTarget = ({ path, scopes }: Route): Target => ({
  text: path.replace(':spaceId', scopes.includes('spaces:manage') ? SET_SPACE : CALLS_SPACE).replace(ID, '{$1}'),
  is: 'row',
});

const NO_IDS = ['a', '__proto__', `zz${'a'.repeat(26)}`, '{00}:job:a', '🚂', 'a/b', '\r\n', '..', 'a'.repeat(3_000)];
const NO_SPACES = ['a/b', 'ä', '{', '*', '🚂', 'a,b', '%', '\0', '\r\n', 'a b', 'a'.repeat(129)];

/** Encode every special byte of a path as `%xx`, and also `.`, which clients and servers may read as a folder. */
const encoded = (text: string) => encodeURIComponent(text).replaceAll('.', '%2e').replaceAll('*', '%2a');

/** Draw the path of an endpoint in another spelling, or a path of no endpoint. */
export function oddTarget(route: Route): fc.Arbitrary<Target> {
  const { text } = usualTarget(route);
  const kind = ID.exec(route.path)?.[1] as 'space' | Resource | undefined;
  const some = (is: Target['is'], texts: string[]) =>
    fc.constantFrom(...texts.map((each): Target => ({ text: each.replace('@', () => text), is })));
  const withIds = (ids: string[]) => ids.map((id) => route.path.replace(ID, () => id));
  const ids = (kind === 'space' ? NO_SPACES : NO_IDS).map(encoded);
  return fc.oneof(
    some('row', ['@/', 'http://127.0.0.1@', text.replace('{job}', '{encodedJob}').replace('fuzz', '%66uzz')]),
    some('nothing', ['@//', '/@', '@/x/y', text.toUpperCase(), '//', '/api/v1', '/api/v2/keys', '/.env']),
    some('unclear', '@#x @%2f @;a=b @%00 @\\ @| @" @< @%0a @.. @/.. @% @%zz @%ff @\xe9'.split(' ')),
    some('unclear', ['*', 'x', '?', `/${'a/'.repeat(4_000)}`, '/\x80\xff', '/%', 'ftp://x/y']),
    ...(kind ? [some('path', withIds(['%', '%z', '%e2%82', '%c0%80'])), some(kind, withIds(ids))] : []),
  );
}

export interface Query {
  /** The text after the `?`. */
  text: string;
  /** Its fields; null when it has several valid readings. */
  pairs: [name: string, value: string][] | null;
}

const UNCLEAR = ['&', '=', '%', 'limit=%', 'q=%ff', '?limit=1', '#', 'limit', 'a=b=c', `${'limit=1&'.repeat(1_100)}x`];

/** Write fields as a query that fits into a head. */
function written([fields, blank]: [fields: unknown, blank: string]): Query {
  const asText = (value: unknown) => (typeof value === 'string' ? value : textOf(value)).slice(0, 600).toWellFormed();
  const pairs = Object.entries(typeof fields === 'string' ? { q: fields } : Object(fields))
    .flatMap(([name, value]) => [value].flat().map((each): [string, string] => [asText(name), asText(each)]))
    .slice(0, 150);
  const write = (text: string) => encodeURIComponent(text).replaceAll('%20', blank);
  return { text: pairs.map((pair) => pair.map(write).join('=')).join('&'), pairs };
}

/** Draw queries with valid, invalid and unknown fields. */
export function anyQuery(route: Route): fc.Arbitrary<Query> {
  const usual = route.query ? validInput(route) : fc.dictionary(oddText, oddText, { maxKeys: 2 });
  const odd = mutated(usual, [...fieldsOf(route), 'limit[]', 'Limit']);
  return fc.oneof(
    ...[usual, odd, odd, odd].map((fields) => fc.tuple(fields, fc.constantFrom('+', '%20')).map(written)),
    fc.constantFrom(...UNCLEAR).map((text): Query => ({ text, pairs: null })),
  );
}
