import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { InvalidLine, linesOf, readReportLine } from '@yardmaster/cli';

const log = (level: string, message: string) => ({ kind: 'log', entry: { level, message } });
const progress = (percent: number, message: string) => ({ kind: 'progress', body: { percent, message } });

it.each([
  ['progress 40 Resizing', progress(40, 'Resizing')],
  ['progress 40%  Resizing  a.png', progress(40, 'Resizing  a.png')],
  ['progress 12.5', progress(12.5, '12.5%')],
  ['  progress\t100\tdone', progress(100, 'done')],
  ['progress {"percent":1,"message":"x"}', progress(1, 'x')],
  ['checkpoint {"page": 7}', { kind: 'checkpoint', body: { page: 7 } }],
  ['event null', { kind: 'event', body: null }],
  ['log warning low', log('warn', 'low')],
  ['log info', log('info', '')],
  [`log info ${'x'.repeat(5_000)}`, log('info', 'x'.repeat(4_000))],
])('reads the report line "%s"', (line, report) => {
  expect(readReportLine(line)).toEqual(report);
});

it.each([
  ['progress', 'percent must be a number'],
  ['progress -1 x', 'percent must be a number'],
  ['progress 101 x', 'percent must be between 0 and 100'],
  ['progress {"percent":1}', 'message is required'],
  ['checkpoint', 'what follows the first word must be JSON'],
  ['event {', 'what follows the first word must be JSON'],
  ['log', 'level must be one of'],
  ['log low on memory', 'level must be one of'],
  ['toString 1', 'it must begin with progress, checkpoint, event, log'],
])('refuses the report line "%s"', (line, reason) => {
  expect(() => readReportLine(line)).toThrow(InvalidLine);
  expect(() => readReportLine(line)).toThrow(reason);
});

describe('lines of a stream', () => {
  const long = 'x'.repeat(300_000);
  it.each([
    ['without ends', ['a\nb\r\n\nc'], ['a', 'b', '', 'c']],
    ['over several chunks', ['a', 'b\nc', '\n'], ['ab', 'c']],
    ['with a character over two chunks', [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], ['é']],
    ['null for each that is too long', [long, `${long}\nb\n`, `${long}\n`, 'c\n', long], [null, 'b', null, 'c', null]],
  ])('linesOf reads the lines of a stream %s', async (_, chunks, expected) => {
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk as string)));
    const lines: (string | null)[] = [];
    for await (const line of linesOf(stream)) lines.push(line);
    expect(lines).toEqual(expected);
  });
});
