import type { Random } from '../logs/random.js';
import { changedAt, countOf, type Written, written } from './json-text.js';
import { nested, oddText, oddValue } from './odd-values.js';

type Mutation = (random: Random, node: Written, fields: readonly string[]) => Written;
type Members = Extract<Written, { members: unknown }>['members'];

const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '0',
  'a.b',
  'a[0]',
  'then',
  'toJSON',
  'length',
  'é',
  '\0',
  '\ud800',
];

const fieldOf = (random: Random, fields: readonly string[]) =>
  fields.length > 0 && random.chance(0.5) ? random.of(fields) : random.chance(0.7) ? random.of(KEYS) : oddText(random);

const ofMembers: readonly ((random: Random, members: Members, fields: readonly string[]) => Members)[] = [
  (random, members) => members.toSpliced(random.below(members.length), 1),
  (random, members, fields) => [...members, [fieldOf(random, fields), oddValue(random)]],
  // The last one of a name counts, as in JavaScript.
  (random, members) => [...members, [members[random.below(members.length)]?.[0] ?? 'a', oddValue(random)]],
  (random, members, fields) => {
    const place = random.below(members.length);
    return members.map(([key, value], i) => [i === place ? fieldOf(random, fields) : key, value]);
  },
  (_, members) => members.toReversed(),
  (random, members) => members.map(([key, value]) => [random.chance(0.5) ? key.toUpperCase() : key, value]),
];

const ofItems: readonly ((random: Random, items: Written[]) => Written[])[] = [
  (random, items) => items.toSpliced(random.below(items.length), 1),
  (random, items) => items.toSpliced(random.below(items.length + 1), 0, oddValue(random)),
  (random, items) =>
    Array.from(
      { length: random.of([2, 99, 100, 101, 1_000, 1_001, 5_000]) },
      (_, i) => items[i % items.length] ?? { text: '1' },
    ),
  () => [],
];

/** Of a string another one, or the same with something in it that should not be there. */
function otherText(random: Random, text: string): Written {
  const at = random.below(text.length + 1);
  return written(random.chance(0.6) ? oddText(random) : text.slice(0, at) + oddText(random) + text.slice(at));
}

/** The same in another type, which a reader that is too kind would take for the first one. */
function retyped(random: Random, { text }: Written & { text: string }): Written {
  if (text.startsWith('"')) return random.of([{ text: parsedText(text) || '0' }, { items: [{ text }] }]);
  return random.of([{ text: JSON.stringify(text) }, { text: 'true' }, { items: [{ text }] }, { text: `-${text}` }]);
}

const ofAny: readonly Mutation[] = [
  oddValue,
  oddValue,
  oddValue,
  (_, node) => ({ items: [node] }),
  (_, node) => ({ members: [['value', node]] }),
  (random) => nested(random.of([63, 64, 65, 1_000, 100_000])),
  () => ({ text: 'null' }),
];

function mutated(random: Random, node: Written, fields: readonly string[]): Written {
  if ('members' in node && random.chance(0.75)) return { members: random.of(ofMembers)(random, node.members, fields) };
  if ('items' in node && random.chance(0.6)) return { items: random.of(ofItems)(random, node.items) };
  // Of the right type it comes further.
  if ('text' in node && node.text.startsWith('"') && random.chance(0.5))
    return otherText(random, parsedText(node.text));
  if ('text' in node && random.chance(0.2)) return retyped(random, node);
  return random.of(ofAny)(random, node, fields);
}

const parsedText = (text: string): string => {
  try {
    return JSON.parse(text);
  } catch {
    return ''; // It was changed before, and is no JSON any more.
  }
};

/**
 * Change what a valid body says, at any depth, once or a few times.
 *
 * @param fields names that mean something to the endpoint
 */
export function mutate(random: Random, body: Written, fields: readonly string[]): Written {
  let node = body;
  for (let times = random.chance(0.7) ? 1 : 1 + random.below(3); times > 0; times--) {
    // A value of the top level as often as any other: deep ones are many.
    const place = random.chance(0.3) ? 0 : random.below(Math.min(countOf(node), 200));
    node = changedAt(node, place, (each) => mutated(random, each, fields));
  }
  return node;
}
