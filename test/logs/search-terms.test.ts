import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { jobWithLogs, readLogs, type Sent } from './reading.js';
import { messagesFound, type Search, titled } from './searching.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
});
afterAll(() => service.stop());

async function expectFound({ q, finds, not }: Search): Promise<void> {
  expect(await messagesFound(service, [...not, ...finds, ...not], q)).toEqual(finds);
}

describe('terms', () => {
  it.each(
    titled([
      { q: 'disk', finds: ['disk', 'a disk full', 'diskette', 'subdisk'], not: ['', 'disc', 'dis k'] },
      { q: 'disk full', finds: ['disk full', 'full disk', 'fulldisk', 'diskfull'], not: ['disk', 'full'] },
      { q: '  disk \t full\n', finds: ['full of disks'], not: ['disk', '  disk \t '] },
      { q: 'disk disk', finds: ['one disk'], not: ['dis'] },
      { q: 'a', finds: ['a', 'A', 'bab'], not: ['', 'b'] },
      { q: 'é', finds: ['café'], not: ['cafe'] },
      { q: '日本', finds: ['in 日本語'], not: ['日', '本日'] },
      { q: '🚂', finds: ['a 🚂 came'], not: ['a 🚃 came'] },
      { q: '0', finds: ['0', '10 ms'], not: ['1', 'null'] },
      { q: 'x'.repeat(400), finds: ['x'.repeat(400)], not: ['x'.repeat(399)] },
    ]),
  )('$title', expectFound);
});

describe('quotes', () => {
  it.each(
    titled([
      { q: '"disk full"', finds: ['the disk full of it'], not: ['full disk', 'disk  full', 'disk\nfull'] },
      { q: '"disk full" sda', finds: ['sda: disk full', 'disk full: sda'], not: ['disk full', 'sda: full disk'] },
      { q: 'sda "disk full', finds: ['disk full: sda1'], not: ['disk of sda is full'] },
      { q: '"disk full', finds: ['a disk full'], not: ['full disk', '"disk'] },
      { q: '"disk', finds: ['disk'], not: ['"dis'] },
      { q: '"disk "', finds: ['disk full'], not: ['disk', 'disk:'] },
      { q: '"  "', finds: ['two  blanks'], not: ['one blank'] },
      { q: '"a\tb"', finds: ['a\tb'], not: ['a b', 'a', 'b'] },
      { q: '"a\nb"', finds: ['a\nb'], not: ['a\\nb', 'a b'] },
      { q: 'it"s', finds: ['it"s'], not: ["it's", 'its', 'it s'] },
      { q: 'say" it', finds: ['say"it'], not: ['say it'] },
      { q: 'a"b c"d', finds: ['a"b c"d', 'c"d a"b'], not: ['a"b', 'ab cd'] },
      { q: '{"a":1}', finds: ['{"a":1}'], not: ['{a:1}'] },
      { q: "'disk full'", finds: ["full' and 'disk"], not: ['disk full'] },
      { q: '“disk full”', finds: ['full” “disk'], not: ['disk full'] },
      { q: '"disk"full', finds: ['full of disks'], not: ['disk', 'full'] },
      { q: '"" disk', finds: ['disk'], not: ['full'] },
    ]),
  )('$title', expectFound);

  it.each(['""', '"', '"" ""', ' "" '])('%j has no term, and filters nothing', async (q) => {
    expect(await messagesFound(service, ['a', '', '"'], q)).toEqual(['a', '', '"']);
  });
});

describe('characters that mean something elsewhere', () => {
  it.each(
    titled([
      { q: '.', finds: ['a.b'], not: ['axb', ''] },
      { q: 'a.c', finds: ['a.c'], not: ['abc'] },
      { q: '.*', finds: ['grep .*'], not: ['anything', '*.'] },
      { q: '*', finds: ['2 * 3'], not: ['2 x 3', ''] },
      { q: 'a*', finds: ['a*b'], not: ['aaa', ''] },
      { q: '?', finds: ['why?'], not: ['why'] },
      { q: '^a', finds: ['x^ay'], not: ['abc'] },
      { q: 'c$', finds: ['abc$d'], not: ['abc'] },
      { q: '[ab]', finds: ['in [ab] of'], not: ['a', 'b', 'ab'] },
      { q: '[', finds: ['pid [1'], not: ['pid 1]'] },
      { q: '(a|b)', finds: ['(a|b)'], not: ['a', 'b'] },
      { q: '(', finds: ['f('], not: ['f)'] },
      { q: 'a+', finds: ['a+b'], not: ['aa'] },
      { q: 'a{2}', finds: ['a{2}'], not: ['aa'] },
      { q: '|', finds: ['a|b'], not: ['a b'] },
      { q: '\\d', finds: ['\\d+'], not: ['7', 'd'] },
      { q: '\\', finds: ['C:\\Windows'], not: ['C:/Windows', 'a\nb', 'a"b', '\u0001', 'é'] },
      { q: '\\\\server', finds: ['\\\\server\\share'], not: ['\\server'] },
      { q: '/a/i', finds: ['x/a/i'], not: ['a'] },
      { q: '%', finds: ['100%'], not: ['100'] },
      { q: '%d', finds: ['exit %d'], not: ['exit 7', 'd'] },
      { q: '%a', finds: ['%a'], not: ['letters'] },
      { q: '%25', finds: ['a%25b'], not: ['a%b', '25'] },
      { q: '%_', finds: ['50%_'], not: ['50', '50%'] },
      { q: '-v', finds: ['grep -v'], not: ['grep v', 'v'] },
      { q: '-disk', finds: ['no-disk'], not: ['disk', 'full'] },
      { q: 'NOT disk', finds: ['not a disk'], not: ['disk', 'full'] },
      { q: 'disk OR full', finds: ['disk or full'], not: ['disk', 'full'] },
      { q: 'message:disk', finds: ['message:disk'], not: ['disk'] },
      { q: 'a+b', finds: ['a+b'], not: ['a b', 'ab'] },
      { q: 'a&b=c#d', finds: ['?a&b=c#d'], not: ['a'] },
      { q: 'warn,error', finds: ['warn,error'], not: ['warn', 'error'] },
      { q: '__proto__', finds: ['__proto__'], not: ['constructor'] },
      { q: '</b>', finds: ['<b></b>'], not: ['<b>'] },
    ]),
  )('$title is taken as it is written', expectFound);
});

it('finds within a level, and in the order of seq', async () => {
  const entries: Sent[] = [
    { message: 'disk 1', level: 'warn' },
    { message: 'disk 2', level: 'error' },
    { message: 'desk 3', level: 'warn' },
    { message: 'disk 4', level: 'warn' },
  ];
  const jobId = await jobWithLogs(service, entries);
  const { logs } = await readLogs(service, jobId, { q: 'disk', level: 'warn' });
  expect(logs.map(({ message }) => message)).toEqual(['disk 1', 'disk 4']);
});
