// What docs/performance.md shows of `npm run bench:scripts`: what each script of a job's life takes of Redis.
import { figure, spread } from './figures.mjs';
import { figures, markdownTable, text } from './markdown-table.mjs';

const VERBS = { create: 'create', poll: 'poll', ack: 'ack', complete: 'complete', emptyPoll: 'poll, empty' };

/** Commands within a script, as often as it runs each; the call of the script itself is not one of them. */
const commandsOf = ({ commands }) =>
  Object.entries(commands)
    .filter(([command]) => command !== 'evalsha')
    .map(([command, calls]) => (calls === 1 ? command : `${figure(calls, Number.isInteger(calls) ? 0 : 1)} ${command}`))
    .join(', ');

const byScript = (results) =>
  markdownTable(Object.keys(VERBS), [
    text('script', (verb) => VERBS[verb]),
    figures("Redis' CPU, µs", (verb) => spread(results[verb].micros)),
    text('commands', (verb) => commandsOf(results[verb])),
  ]);

export const scripts = { tables: { scripts: byScript }, charts: {}, figures: {} };
