import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { clip, printable, printableJson, readMessage, widthOf } from '@yardmaster/cli';

it.each([
  ['colors', '\u001b[1;31mred\u001b[0m', 'red'],
  ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
  ['CSI in one character', 'a\u009b2Jb', 'ab'],
  ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link', '\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\', 'text'],
  ['the clipboard', 'a\u001b]52;c;cm0gLXJm\u009cb', 'ab'],
  ['a device string', 'a\u001bP1$q\u001b\\b', 'ab'],
  ['a reset', 'a\u001bcb', 'ab'],
  ['a sequence without an end', 'a\u001b[31', 'a\ufffd[31'],
  ['a title without an end', 'a\u001b]0;b', 'a\ufffd]0;b'],
  ['a sequence within a sequence', '\u001b\u001b[31m[31mred', '\ufffd[31mred'],
  ['line ends', 'a\r\nb\u0085c\u2028d\te', 'a b c d e'],
  ['backspaces and bells', 'a\b\u0007\u0000\u007fb', 'a\ufffd\ufffd\ufffd\ufffdb'],
  ['turned direction', 'a\u202egnp.exe\u202c \u2066x\u2069\u200f', 'agnp.exe x'],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['marks in a pile', `a${'\u0301'.repeat(500)}b`, `a${'\u0301'.repeat(8)}b`],
])('printable makes a text with %s safe to print', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('printable keeps words and emoji of all languages unchanged', () => {
  const text = 'Größe 日本語 हिन्दी עברית 👩‍👩‍👧 é';
  expect(printable(text)).toBe(text);
});

it('printable removes every control character, in whatever order they come', () => {
  const alphabet = ['\u001b', '[', ']', 'P', '\u009b', '\u009d', '\u0007', '\\', 'm', '0', ';', '\n', '\u202e', 'a'];
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return seed % alphabet.length;
  };
  for (let i = 0; i < 5_000; i++) {
    const text = Array.from({ length: 12 }, () => alphabet[next()]).join('');
    expect(printable(text)).not.toMatch(/\p{Cc}|\u202e/u);
  }
});

it.each(['\u001b]', '\u009d', '\u001b[', '\u001bP0', 'a\u0301', '\n'])(
  'printable takes time linear in the length of a text of %j',
  (piece) => {
    // A search that runs to the end of the text from each of its characters would take minutes.
    const run = () => printable(piece.repeat(500_000)).length;
    expect(runInNewContext('run()', { run }, { timeout: 25_000 })).toBeGreaterThan(0);
  },
);

it('printableJson writes JSON on one line with the same value', () => {
  const value = { '\u009b': ['a\nb\u2028', '\u007f\u202e', '\u{e0041}', '日本 👩‍👩‍👧'] };
  const line = printableJson(JSON.stringify(value, null, 2));
  expect(JSON.parse(line)).toEqual(value);
  expect(line).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
  expect(line).toContain('日本 👩‍👩‍👧');
});

it.each([
  ['leaves what fits', 'abcde', 5, 'abcde'],
  ['cuts what does not fit', 'abcdef', 5, 'abcd…'],
  ['counts wide characters twice', '日本語', 5, '日本…'],
  ['shows no half of a wide character', '日本語', 4, '日…'],
  ['cuts no emoji of several characters', 'ab👩‍👩‍👧', 3, 'ab…'],
  ['leaves nothing where there is no room', 'abc', 0, ''],
])('the function clip %s', (_, text, columns, clipped) => {
  expect(clip(text, columns)).toBe(clipped);
  expect(widthOf(clipped)).toBeLessThanOrEqual(columns);
});

describe('readMessage', () => {
  const evil = 'x\u001b[2J\u009b\n\u202e';
  const textsOf = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    if (value === null || typeof value !== 'object') return [];
    return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
  };

  it.each(['init', 'progress', 'completed', 'retried', 'dead', 'killed', 'checkpoint', 'logs_appended', evil])(
    'readMessage makes every text of a message of type %j printable',
    (type) => {
      const progress = { percent: 1, message: evil, subProgress: { [evil]: { percent: 1, message: evil } } };
      const data = type === 'progress' ? progress : { error: evil, reason: evil, attemptNumber: evil, count: evil };
      const text = { jobId: evil, jobName: evil, spaceId: evil, status: evil, timestamp: evil };
      const message = readMessage(JSON.stringify({ ...text, type, data, ...(type === 'init' ? { progress } : {}) }));
      expect(textsOf(message).join('')).not.toMatch(/[\p{Cc}\u202e]/u);
    },
  );

  it.each(['', 'not JSON', 'null', '[]', '{}', '{"type":1}', '"init"'])('readMessage returns null for %j', (text) => {
    expect(readMessage(text)).toBeNull();
  });

  it('readMessage shows an unknown type with its data', () => {
    expect(readMessage('{"type":"paused","data":{"by":"x"}}')).toMatchObject({ type: 'paused', detail: '{"by":"x"}' });
  });

  it('readMessage shows the data of a progress message that it cannot read as progress', () => {
    expect(readMessage('{"type":"progress","data":{"percent":"x"}}')).toMatchObject({
      progress: null,
      detail: '{"percent":"x"}',
    });
  });
});
