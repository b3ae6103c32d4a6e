import { LOG_LEVELS, type LogLevel, type LogsMode, type LogsQuery } from '@yardmaster/protocol';
import type { Random } from '../support/random.js';
import { range } from './reading.js';

/** The fields of a stored entry that the tests of paging compare. */
export interface StoredEntry {
  seq: number;
  level: LogLevel;
  message: string;
}

const WORDS = 'disk Disk sd full of a.b .* 100% C:\\dir \\n é É say" {"a":1} -'.split(' ');

const someOf = <T>(random: Random, list: readonly T[], atMost: number): T[] =>
  Array.from({ length: random.below(atMost + 1) }, () => random.of(list));

/** Draw a batch of entries to append. */
export const randomBatch = (random: Random): Omit<StoredEntry, 'seq'>[] =>
  range(0, random.below(random.chance(0.2) ? 200 : 20)).map(() => ({
    level: random.of(LOG_LEVELS),
    message: someOf(random, WORDS, 6).join(' '),
  }));

/** A query in parsed form and as text of a URL. The text may leave the limit out, or have one above 500. */
export interface RandomQuery {
  parsed: LogsQuery;
  query: string;
}

/** Draw a query for the logs of a job whose newest entry has this seq. */
export function randomQuery(random: Random, newestSeq: number): RandomQuery {
  const limit = random.chance(0.2) ? null : 1 + random.below(random.chance(0.5) ? 5 : 600);
  const mode = random.of<LogsMode>(['after', 'before', 'latest']);
  const bound = mode === 'latest' ? null : random.below(newestSeq + 5);
  const levels = random.chance(0.5) ? [] : someOf(random, LOG_LEVELS, 4);
  const terms = random.chance(0.5) ? [] : someOf(random, [...WORDS, 'disk full', 'of  of', 'k'], 3);
  // Terms with a space, and some others, are in quotes.
  const q = terms.map((term) => (/\s/.test(term) || (random.chance(0.3) && !term.includes('"')) ? `"${term}"` : term));
  const parameters = new URLSearchParams(levels.map((level): [string, string] => ['level', level]));
  if (limit !== null) parameters.set('limit', `${limit}`);
  if (bound !== null) parameters.set(mode, `${bound}`);
  if (q.length > 0) parameters.set('q', q.join(' '));
  const parsed = { mode, bound, limit: Math.min(limit ?? 200, 500), levels: levels.length > 0 ? levels : null, terms };
  return { parsed, query: `${parameters}` };
}
