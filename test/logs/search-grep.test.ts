import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { type Direction, entriesOf, jobWithLogs, readLogs, walk } from './reading.js';
import { systemLog } from './system-log.js';

const ENTRIES = systemLog(10_000, 4_711);

let service: TestService;
let jobId: string;
let dir: string;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
  jobId = await jobWithLogs(service, ENTRIES);
  dir = await mkdtemp(join(tmpdir(), 'yardmaster-grep-'));
  for (const level of ['', ...new Set(ENTRIES.map((entry) => entry.level))]) {
    const lines = ENTRIES.filter((entry) => level === '' || entry.level === level).map(({ message }) => `${message}\n`);
    await writeFile(join(dir, `${level}.log`), lines.join(''));
  }
});
afterAll(async () => {
  await service.stop();
  await rm(dir, { recursive: true, force: true });
});

/** The lines of a file that hold every term, by one grep for each. */
async function grep(file: string, terms: string[]): Promise<string[]> {
  let text = await readFile(join(dir, file));
  for (const term of terms) {
    const { status, stdout, stderr } = spawnSync('grep', ['-iF', '--', term], {
      input: text,
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
      maxBuffer: 64 * 1_048_576,
    });
    if (status === null || status > 1) throw new Error(`no grep: ${stderr}`);
    text = stdout;
  }
  return text.toString().split('\n').slice(0, -1);
}

interface Search {
  q: string;
  /** What grep must look for. Default: q as it is. */
  terms?: string[];
  level?: string;
}

const SEARCHES: Search[] = [
  { q: 'sshd' },
  { q: 'failed PASSWORD', terms: ['failed', 'PASSWORD'] },
  { q: '"Failed password for" root', terms: ['Failed password for', 'root'] },
  { q: '"password for invalid user admin from 10."', terms: ['password for invalid user admin from 10.'] },
  { q: '192.168' },
  { q: '.1.' },
  { q: '502 orders', terms: ['502', 'orders'] },
  { q: '" 404 " get', terms: [' 404 ', 'get'] },
  { q: '/api/v1/orders' },
  { q: 'a+b%20c' },
  { q: '50%)' },
  { q: '[retry=2]' },
  { q: '"*.gz" -mtime', terms: ['*.gz', '-mtime'] },
  { q: 'c:\\windows\\temp\\~A' },
  { q: 'ÉTÉ.CSV' },
  { q: 'JÜRGEN €', terms: ['JÜRGEN', '€'] },
  { q: 'orders$pay ~[orders.jar:1.7]', terms: ['orders$pay', '~[orders.jar:1.7]'] },
  { q: '{"event":"tick" "ok":false', terms: ['{"event":"tick"', 'ok', ':false'] },
  { q: 'path= 7ms a', terms: ['path=', '7ms', 'a'] },
  { q: 'example.com', level: 'error' },
  { q: 'internal "(110: connection', terms: ['internal', '(110: connection'] },
  { q: 'curl/8.5.0', level: 'info' },
  { q: 'e', level: 'fatal' },
  { q: 'panic cookies', terms: ['panic', 'cookies'] },
  { q: 'nothing-of-this' },
];

it.each(SEARCHES)(
  '$q at level $level finds the lines that grep prints, both ways',
  async ({ q, terms = [q], level }) => {
    const filter = { q, ...(level === undefined ? {} : { level }), limit: 500 };
    const messagesBy = async (direction: Direction) => {
      const pages = await walk(direction, (bound) => readLogs(service, jobId, { ...filter, ...bound }));
      return entriesOf(pages, direction).map(({ message }) => message);
    };

    const found = [await messagesBy('forwards'), await messagesBy('backwards')];

    const printed = await grep(`${level ?? ''}.log`, terms);
    expect(found).toEqual([printed, printed]);
  },
);

it('is compared with searches that find all kinds of many', async () => {
  const counts = [];
  for (const { q, terms = [q], level } of SEARCHES) counts.push((await grep(`${level ?? ''}.log`, terms)).length);
  expect(counts.filter((count) => count === 0)).toHaveLength(2);
  expect(counts.filter((count) => count > 0 && count < 100).length).toBeGreaterThan(5);
  expect(counts.filter((count) => count > 500).length).toBeGreaterThan(5);
});
