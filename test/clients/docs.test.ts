import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { STREAM_VARIABLES } from '@yardmaster/gateway';
import {
  CLOSE_CODES,
  ERRORS,
  type ErrorCode,
  fullMessage,
  progressMessage,
  STREAM_TYPES,
  spaceMessage,
} from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';

const streams = readFileSync(fileURLToPath(new URL('../../docs/streams.md', import.meta.url)), 'utf8');

/** Return the cells of the table under a heading, without its head. Cells of code alone lose their backticks. */
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

it('docs/streams.md describes how every type of message reaches each kind of stream', () => {
  const rows = tableOf('Messages').map(([type, , , ...kinds]) => [type, ...kinds]);
  expect(rows).toEqual([
    ['init', 'sent', 'sent', 'sent'],
    ['created', 'withheld', 'withheld', 'sent'],
    ...Object.entries(STREAM_TYPES).map(([type, inProgress]) => [type, 'sent', inProgress, 'sent']),
  ]);
});

it('docs/streams.md explains every close code of a stream, including 1006, which is never sent', () => {
  const codes = tableOf('Close codes').map(([code]) => Number(code));
  expect(codes).toEqual([...Object.values(CLOSE_CODES), 1006].sort());
});

it('docs/streams.md lists every refusal of a stream with its status', () => {
  const rows = tableOf('Refusals');
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map(([status]) => Number(status))).toEqual(rows.map(([, code]) => ERRORS[code as ErrorCode]?.status));
});

it('docs/streams.md lists every variable of streams with its default', () => {
  expect(tableOf('Limits').map(([name, byDefault]) => [name, byDefault])).toEqual(
    STREAM_VARIABLES.map((name) => [name, VARIABLES[name].default ?? 'none']),
  );
});

/** Parse the cell that lists the fields of a message: `a`, `b?` (may be absent), `c` (only of `type`). */
function fieldsIn(cell: string, message: Record<string, unknown>): string[] {
  const named = [...cell.matchAll(/`(\w+)(\?)?`(?: \(only of `(\w+)`\))?/g)];
  return named
    .filter(([, name, mayBeAbsent]) => !mayBeAbsent || (name as string) in message)
    .filter(([, , , onlyOf]) => onlyOf === undefined || onlyOf === message.type)
    .map(([, name]) => name as string);
}

const SCHEMAS = { 'Job, full': fullMessage, 'Job, progress': progressMessage, Space: spaceMessage };

it.each(['Job, full', 'Job, progress', 'Space'] as const)(
  'docs/streams.md has valid examples with exactly the listed fields: %s',
  (kind) => {
    const cells = new RegExp(`^\\| ${kind} \\| (.+) \\| (.+) \\|$`, 'm').exec(streams) as RegExpExecArray;
    const [, examples] = new RegExp(`^\\*\\*${kind}:\\*\\*\n\n\`{3}json\n([^\`]+)\n\`{3}$`, 'm').exec(
      streams,
    ) as RegExpExecArray;
    for (const line of (examples as string).split('\n')) {
      const message = JSON.parse(line);
      const cell = cells[message.type === 'init' ? 1 : 2] as string;
      expect(Object.keys(message)).toEqual(fieldsIn(cell, message));
      expect(SCHEMAS[kind].parse(message)).toEqual(message);
    }
  },
);
