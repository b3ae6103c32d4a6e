import { expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { jobWithLogs, messagesOf, readPage } from './reading.js';

const service = withService();

/** A query, messages that it must find, and messages that it must not. */
type Search = [q: string, finds: string[], not: string[]];

async function expectFound(q: string, finds: string[], not: string[]): Promise<void> {
  const jobId = await jobWithLogs(service, [...not, ...finds, ...not]);
  expect(messagesOf((await readPage(service, jobId, { q })).logs)).toEqual(finds);
}

it.each<Search>([
  ['disk', ['disk', 'a disk full', 'diskette', 'subdisk'], ['', 'disc', 'dis k']],
  ['disk full', ['disk full', 'full disk', 'fulldisk'], ['disk', 'full']],
  ['  disk \t full\n', ['full of disks'], ['disk', '  disk \t ']],
  ['disk disk', ['one disk'], ['dis']],
  ['日本', ['in 日本語'], ['日', '本日']],
  ['🚂', ['a 🚂 came'], ['a 🚃 came']],
  ['0', ['0', '10 ms'], ['1', 'null']],
  ['x'.repeat(60), ['x'.repeat(60)], ['x'.repeat(59)]],
])('finds log messages that contain every term: %s', expectFound);

it.each<Search>([
  ['"disk full"', ['the disk full of it'], ['full disk', 'disk  full', 'disk\nfull']],
  ['"disk full" sda', ['sda: disk full', 'disk full: sda'], ['disk full', 'sda: full disk']],
  ['sda "disk full', ['disk full: sda1'], ['disk of sda is full']],
  ['"disk', ['disk'], ['"dis']],
  ['"disk "', ['disk full'], ['disk', 'disk:']],
  ['"  "', ['two  blanks'], ['one blank']],
  ['"a\tb"', ['a\tb'], ['a b', 'a', 'b']],
  ['"a\nb"', ['a\nb'], ['a\\nb', 'a b']],
  ['it"s', ['it"s'], ["it's", 'its', 'it s']],
  ['say" it', ['say"it'], ['say it']],
  ['a"b c"d', ['a"b c"d', 'c"d a"b'], ['a"b', 'ab cd']],
  ['{"a":1}', ['{"a":1}'], ['{a:1}']],
  ["'disk full'", ["full' and 'disk"], ['disk full']],
  ['“disk full”', ['full” “disk'], ['disk full']],
  ['"disk"full', ['full of disks'], ['disk', 'full']],
  ['"" disk', ['disk'], ['full']],
])('treats a quoted text as one term of a log search: %j', expectFound);

it.each<Search>([
  ['.', ['a.b'], ['axb', '']],
  ['.*', ['grep .*'], ['anything', '*.']],
  ['a*', ['a*b'], ['aaa', '']],
  ['[ab]', ['in [ab] of'], ['a', 'b', 'ab']],
  ['(', ['f('], ['f)']],
  ['^a|c$', ['x^a|c$y'], ['a', 'c']],
  ['\\', ['C:\\Windows'], ['C:/Windows', 'a\nb', 'a"b', '\u0001', 'é']],
  ['\\\\server', ['\\\\server\\share'], ['\\server']],
  ['%a', ['%a'], ['letters']],
  ['%25', ['a%25b'], ['a%b', '25']],
  ['-disk', ['no-disk'], ['disk', 'full']],
  ['NOT disk', ['not a disk'], ['disk', 'full']],
  ['disk OR full', ['disk or full'], ['disk', 'full']],
  ['message:disk', ['message:disk'], ['disk']],
  ['a+b', ['a+b'], ['a b', 'ab']],
  ['a&b=c#d', ['?a&b=c#d'], ['a']],
  ['warn,error', ['warn,error'], ['warn', 'error']],
  ['__proto__', ['__proto__'], ['constructor']],
])('treats special characters in a log search literally: %s', expectFound);

it.each<Search>([
  ['DISK', ['DISK', 'Disk', 'disk'], ['desk']],
  ['"Disk FULL"', ['dISK full'], ['FULL disk']],
  ['É', ['É', 'CAFÉ', 'café'], ['E', 'È', 'ê']],
  ['ÆØÅ', ['æøå', 'ÆØÅ', 'Æøå'], ['aoa']],
  ['straße', ['STRASSE', 'Straße', 'strasse'], ['strase']],
  ['STRASSE', ['STRASSE', 'Straße', 'strasse'], ['strase']],
  ['ὀδυσσεύς', ['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύσ', 'ὀδυσσεύς'], ['οδυσσευς']],
  ['σ', ['Σ', 'σ', 'ς'], ['s', 'o']],
  ['ς', ['Σ', 'σ', 'ς'], ['s', 'o']],
  ['ПРИВЕТ', ['привет', 'Привет'], ['приве']],
  ['ﬁ', ['file', 'FILE', 'ﬁle'], ['fle']],
  ['ẞ', ['ß', 'SS', 'ss', 'ẞ'], ['s']],
  ['k', ['K', '\u212a'], ['κ']],
  ['å', ['Å', '\u212b'], ['a']],
  ['ω', ['Ω', '\u2126'], ['o']],
  ['ϴ', ['θ', 'Θ', 'ϴ'], ['o']],
  ['i', ['I', 'İ'], ['l']],
  ['𐐀', ['𐐨', '𐐀'], ['𐐩']],
])('ignores case in a log search: %s', expectFound);

it('searches only the messages of log entries, not their other fields or their stored form', async () => {
  const jobId = await jobWithLogs(service, [
    {
      message: 'plain',
      level: 'error',
      timestamp: '2024-02-29T10:30:00Z',
      source: 'needle-source',
      metadata: { needleKey: 'needleValue', nested: ['needle'] },
    },
    'plain',
  ]);
  const found: string[] = [];
  for (const q of [
    ...['needle', 'needle-source', 'needlekey', 'needlevalue', 'error', '4', 'worker', 'info', '2024', '1709202600000'],
    ...['message', 'level', 'source', 'metadata', 'loggedAt', 'createdAt', 'seq', 'id', 'null'],
    ...['[', ']', '{', ',', ':', 'plain"'],
  ])
    if ((await readPage(service, jobId, { q })).logs.length > 0) found.push(q);
  expect(found).toEqual([]);
});

it.each<[what: string, message: string, finds: string[], not: string[]]>([
  ['a quote', 'say "hi"', ['y "h', 'hi"', 'say'], ['\\"', '\\']],
  ['a line feed', 'a\nb', ['"a\nb"', 'a b'], ['\\n', 'n', '"a b"']],
  ['tab and return', 'a\t\r\fb', ['"\t\r"', 'a'], ['t', 'r', 'f', '\\t']],
  ['a control character', 'a\u0001b', ['\u0001', 'a\u0001b'], ['u0001', '0', '\\']],
  ['U+0000', 'a\u0000b', ['a\u0000b', '\u0000'], ['u0000', 'ab']],
  ['a backslash', 'a\\b', ['a\\b', '\\'], ['a\\\\b', '\\\\', '\b']],
  ['a text that looks like an escape', '\\u00e9 \\n', ['u00E9', '\\n'], ['é', '"\n"']],
  ['a lone surrogate', 'a\ud800b', ['a', 'b'], ['ud800', 'd800', '\\']],
  ['line separators', 'a\u2028b', ['"a\u2028b"'], ['u2028', '2028', 'ab']],
  ['JSON', '["x",{"y":null}]', ['{"y":null}', '["x"', ','], ['{y', '\\"']],
])('searches a log message with %s in its original form', async (_, message, finds, not) => {
  const jobId = await jobWithLogs(service, [message]);
  const found: string[] = [];
  for (const q of [...finds, ...not]) if ((await readPage(service, jobId, { q })).logs.length === 1) found.push(q);
  expect(found).toEqual(finds);
});
