import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { STREAM_VARIABLES } from '@yardmaster/gateway';
import { CLOSE_CODES, ERRORS, type ErrorCode, STREAM_TYPES } from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';

const streams = readFileSync(fileURLToPath(new URL('../../docs/streams.md', import.meta.url)), 'utf8');

/** Cells of the table under a heading, without its head; code marks are taken off cells that are nothing else. */
function tableOf(heading: string): string[][] {
  const section = streams.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const [table = ''] = /^\|[\s\S]+?\n(?!\|)/m.exec(section) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`([^`]+)`$/, '$1')));
}

it('says of every type of message how it reaches each kind of stream', () => {
  const rows = tableOf('Messages').map(([type, , , ...kinds]) => [type, ...kinds]);
  expect(rows).toEqual([
    ['init', 'delivered', 'delivered', 'delivered'],
    ['created', 'withheld', 'withheld', 'delivered'],
    ...Object.entries(STREAM_TYPES).map(([type, inProgress]) => [type, 'delivered', inProgress, 'delivered']),
  ]);
});

it('explains every code with which a stream is closed, and 1006, which nobody sends', () => {
  const codes = tableOf('Close codes').map(([code]) => Number(code));
  expect(codes).toEqual([...Object.values(CLOSE_CODES), 1006].sort());
});

it('gives every refusal the status that its code has', () => {
  const rows = tableOf('Refusals');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map(([status]) => Number(status))).toEqual(rows.map(([, code]) => ERRORS[code as ErrorCode]?.status));
});

it('shows every variable of the streams with its default', () => {
  expect(tableOf('Limits').map(([name, byDefault]) => [name, byDefault])).toEqual(
    STREAM_VARIABLES.map((name) => [name, VARIABLES[name].default ?? 'none']),
  );
});

/** What must be in a message, by the cell that lists its fields: `a`, `b?` (may be absent), `c` (only of `type`). */
function fieldsIn(cell: string, message: Record<string, unknown>): string[] {
  const named = [...cell.matchAll(/`(\w+)(\?)?`(?: \(only of `(\w+)`\))?/g)];
  return named
    .filter(([, name, mayBeAbsent]) => !mayBeAbsent || (name as string) in message)
    .filter(([, , , onlyOf]) => onlyOf === undefined || onlyOf === message.type)
    .map(([, name]) => name as string);
}

it.each(['Job, full', 'Job, progress', 'Space'])('has examples of just the fields that it lists: %s', (kind) => {
  const cells = new RegExp(`^\\| ${kind} \\| (.+) \\| (.+) \\|$`, 'm').exec(streams) as RegExpExecArray;
  const [, examples] = new RegExp(`^\\*\\*${kind}:\\*\\*\n\n\`{3}json\n([^\`]+)\n\`{3}$`, 'm').exec(
    streams,
  ) as RegExpExecArray;
  for (const line of (examples as string).split('\n')) {
    const message = JSON.parse(line);
    const cell = cells[message.type === 'init' ? 1 : 2] as string;
    expect(Object.keys(message)).toEqual(fieldsIn(cell, message));
  }
});
