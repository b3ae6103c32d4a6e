import { LOG_LEVELS, type LogLevel } from '@yardmaster/protocol';
import type { Random } from './random.js';
import { range } from './reading.js';

/** An entry of the model. */
export interface Kept {
  seq: number;
  level: LogLevel;
  message: string;
}

export interface Question {
  limit: number | undefined;
  after: number | undefined;
  before: number | undefined;
  levels: LogLevel[];
  /** What the message must hold, each. */
  terms: string[];
}

const WORDS = [
  'disk',
  'Disk',
  'sd',
  'full',
  'of',
  'a.b',
  '.*',
  '100%',
  'C:\\dir',
  '\\n',
  'é',
  'É',
  'say"',
  '{"a":1}',
  '-',
];

const someOf = <T>(random: Random, list: readonly T[], atMost: number): T[] =>
  Array.from({ length: random.below(atMost + 1) }, () => random.of(list));

/** A batch of entries to append. */
export const randomBatch = (random: Random): Omit<Kept, 'seq'>[] =>
  range(0, random.below(random.chance(0.2) ? 200 : 20)).map(() => ({
    level: random.of(LOG_LEVELS),
    message: someOf(random, WORDS, 6).join(' '),
  }));

/** A question about a job whose newest entry has this seq. */
export function randomQuestion(random: Random, newestSeq: number): Question {
  const bound = random.below(newestSeq + 5);
  const mode = random.of(['after', 'before', 'latest']);
  return {
    limit: random.chance(0.2) ? undefined : 1 + random.below(random.chance(0.5) ? 5 : 600),
    after: mode === 'after' ? bound : undefined,
    before: mode === 'before' ? bound : undefined,
    levels: random.chance(0.5) ? [] : someOf(random, LOG_LEVELS, 4),
    terms: random.chance(0.5) ? [] : someOf(random, [...WORDS, 'disk full', 'of  of', 'k'], 3),
  };
}

/** The question as a query. A term that has a blank, or just some term, in quotes. */
export function queryOf({ limit, after, before, levels, terms }: Question, random: Random): string {
  const q = terms.map((term) => (/\s/.test(term) || (random.chance(0.3) && !term.includes('"')) ? `"${term}"` : term));
  const parameters = Object.entries({ limit, after, before })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, `${value}`]);
  for (const level of levels) parameters.push(['level', level]);
  if (q.length > 0) parameters.push(['q', q.join(' ')]);
  return `${new URLSearchParams(parameters as [string, string][])}`;
}

/** What the answer must be: the seqs on the page, and its cursor. */
export function answerOf(kept: readonly Kept[], { limit = 200, after, before, levels, terms }: Question) {
  const has = (message: string, term: string) => message.toLowerCase().includes(term.toLowerCase());
  const matches = kept
    .filter(({ seq }) => (after === undefined || seq > after) && (before === undefined || seq < before))
    .filter(({ level }) => levels.length === 0 || levels.includes(level))
    .filter(({ message }) => terms.every((term) => has(message, term)));
  const size = Math.min(limit, 500);
  const page = after === undefined ? matches.slice(-size) : matches.slice(0, size);
  return {
    page,
    cursor: {
      mode: after !== undefined ? 'after' : before !== undefined ? 'before' : 'latest',
      oldestSeq: page[0]?.seq ?? after ?? before ?? 0,
      newestSeq: page.at(-1)?.seq ?? after ?? before ?? 0,
      hasMore: matches.length > page.length,
    },
  };
}
