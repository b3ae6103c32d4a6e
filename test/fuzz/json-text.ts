import fc from 'fast-check';

/** Return the value of a function; null if it throws. */
export function attempt<T>(read: () => T): { value: T } | null {
  try {
    return { value: read() };
  } catch {
    return null;
  }
}

export const parsed = (text: string) => attempt((): unknown => JSON.parse(text));

/** JSON text that no value can express: a number beyond a double, a repeated key, or invalid JSON. */
class Raw {
  constructor(readonly text: string) {}
}

/** Write a value as JSON, with its raw texts unchanged. */
export function textOf(value: unknown): string {
  const raw: string[] = [];
  const text = JSON.stringify(value, (_, each) => (each instanceof Raw ? `@raw${raw.push(each.text) - 1}@` : each));
  return text.replace(/"@raw(\d+)@"/g, (_, i) => raw[i] as string);
}

const words = (text: string) => fc.constantFrom(...text.split(' '));

/** Draw a text that is unusual for most fields. The kind is drawn first, so that small kinds also occur. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  words(
    'a 0 -1 null true 1e400 INFO info demo pending jobs:read jobs:* keys:manage a,b a/b .. % " \' \\ {"a":1} [object',
  ),
  fc.constantFrom('', ' ', '\t\n', '\0', 'a\0b', '\u0001\u001f', 'a\u007f', '\r\nx-injected: 1', '\u0085'),
  // Lone surrogates, which UTF-8 cannot encode.
  fc.constantFrom('\ud800', '\udc00a', 'a\udbff', '\udc00\ud800', 'http://a.example/\ud800'),
  words('\ufeff \ufffe\uffff \u202egnp.exe e\u0301 \u2028\u2029 🚂 👩‍👩‍👧‍👦 日本語 ß İ ſ ÿ Ā'),
  words('__proto__ constructor toString hasOwnProperty then toJSON length a.b a[0] 0'),
  fc.tuple(words('x é 🚂 " \0'), fc.constantFrom(127, 128, 129, 2_048, 9_000)).map(([piece, n]) => piece.repeat(n)),
  words('http://a.example/?y=1#z http://user@a.example/ http://@a.example ftp://a.example http:a.example http://[::1'),
  words('2026-01-31T10:30:04.784Z 2026-01-31T10:30:04+01:00 2026-01-31 2026-02-30T00:00:00Z 9999-12-31T23:59:59-23:59'),
);

const raw = (texts: string) => words(texts).map((text) => new Raw(text));

const oddNumber = raw(
  '0 -0 1 -1 0.1 1e-400 1e400 -1e400 9007199254740993 2147483648 1e21 1E2 100 100.0 100.00000000000001 101 50.5 51 86400.001',
);

/** Values that other languages accept, but JSON does not. */
const noJson = raw(
  'NaN -Infinity undefined 01 .5 1. +1 0x10 1_000 True none - \'a\' "\\x41" "\\ud8" "\t" "\0" "a /**/1',
);

const nested = fc
  .tuple(
    fc.constantFrom(63, 64, 65, 100_000, 100_000),
    fc.constantFrom<[string, string, string]>(['[', '', ']'], ['{"a":', '0', '}']),
  )
  .map(([levels, [open, inner, close]]) => new Raw(open.repeat(levels) + inner + close.repeat(levels)));

/** Texts whose JSON is about as long as a limit. */
const long = fc
  .tuple(fc.constantFrom(65_536, 262_144, 1_048_576), fc.integer({ min: -3, max: 1 }))
  .map(([limit, more]) => 'x'.repeat(limit + more));

/** Draw an unusual value of a field. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddNumber },
  { weight: 6, arbitrary: oddText },
  { weight: 4, arbitrary: raw('null true false {} [] [null] [[]] {"":{}} "" [{}]') },
  ...[noJson, nested, nested, long],
);

interface Change {
  /** Index of the value in the body, counted from the top. */
  at: number;
  how: number;
  n: number;
  odd: unknown;
  key: string;
}

const isInside = (value: unknown): value is object => value instanceof Object && !(value instanceof Raw);

const ofMembers = (members: [key: string, value: unknown][], { how, n, odd, key }: Change): unknown => {
  const place = n % (members.length + 1);
  if (how === 0) return Object.fromEntries(members.toSpliced(place, 1));
  if (how === 1) return Object.fromEntries([...members, [key, odd]]);
  if (how === 3) return Object.fromEntries(members.map(([name, value], i) => [i === place ? key : name, value]));
  // The last of equal names counts, as in JavaScript.
  const twice = [...members, [members[place]?.[0] ?? 'a', odd]];
  return new Raw(`{${twice.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`)}}`);
};

/** About how many characters of JSON the copies of items have at most. */
const MOST_COPIED = 20_000_000;

const ofItems = (items: unknown[], { how, n, odd }: Change): unknown => {
  const place = n % (items.length + 1);
  if (how < 2) return how === 0 ? items.toSpliced(place, 1) : items.toSpliced(place, 0, odd);
  // Of long items fewer copies: a text of JavaScript has at most half a gigabyte.
  const length = Math.min(n, Math.ceil(MOST_COPIED / textOf(items).length) * Math.max(items.length, 1));
  return Array.from({ length }, (_, i) => items[i % items.length] ?? 1);
};

function changed(value: unknown, change: Change): unknown {
  const { how, n, odd } = change;
  if (how < 4 && isInside(value))
    return Array.isArray(value) ? ofItems(value, change) : ofMembers(Object.entries(value), change);
  if (how === 0 && typeof value === 'string' && typeof odd === 'string')
    return value.slice(0, n) + odd + value.slice(n);
  // Another type, which a lenient parser would convert to the first one.
  if (how === 1) return typeof value === 'string' ? Number(value) || 0 : textOf(value);
  return how === 2 ? [value] : odd;
}

/** Change one of the values in a value. */
function changedAt(value: unknown, change: Change): unknown {
  let left = change.at;
  const visit = (each: unknown): unknown => {
    if (left-- === 0) return changed(each, change);
    if (Array.isArray(each)) return each.map(visit);
    return isInside(each) ? Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, visit(inner)])) : each;
  };
  const after = visit(value);
  // The body has fewer values than `at`, so count again from the top.
  return left >= 0 ? changedAt(value, { ...change, at: left }) : after;
}

/**
 * Change one to three values of a body at any depth.
 *
 * @param names fields that the endpoint reads
 */
export function mutated(body: fc.Arbitrary<unknown>, names: readonly string[]): fc.Arbitrary<unknown> {
  const change = fc.record({
    // Change the whole body more often, because there are many nested values.
    at: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(100) }),
    how: fc.nat(6),
    n: fc.oneof(fc.nat(20), fc.constantFrom(99, 100, 101, 1_000, 1_001, 5_000)),
    odd: oddValue,
    key: fc.oneof(oddText, fc.constantFrom(...names, 'a')),
  });
  const changes = fc.array(change, { minLength: 1, maxLength: 3 });
  return fc.tuple(body, changes).map(([value, some]) => some.reduce(changedAt, value));
}
