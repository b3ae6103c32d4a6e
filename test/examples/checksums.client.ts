import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { JobWithEvents } from '@yardmaster/protocol';
import { endAll, isGroupAlive, type ProcessRun, runCommand } from '../cli/yardmaster.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

const MAIN = fileURLToPath(new URL('../../examples/checksums/main.mjs', import.meta.url));

let dir: string;
const service = withService();
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'yardmaster-checksums-'));
  await folderOf('data', { 'admin-key': `${ADMIN_KEY}\n` });
});
afterEach(endAll);
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Start the example, which finds the key where `npm start` keeps it. */
const start = (args: string[], env: Record<string, string> = {}) =>
  runCommand(process.execPath, [MAIN, ...args], { YARDMASTER_URL: service.url, DATA_DIR: join(dir, 'data'), ...env });

/** Create a folder with these files. */
async function folderOf(name: string, files: Record<string, string | Buffer>): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder);
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
  return folder;
}

async function pathsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Run `sha256sum` on these files, or `shasum` if it is missing. */
function sumsOf(paths: string[]): string {
  const command = 'if command -v sha256sum >&2; then sha256sum -- "$@"; else shasum -a 256 -- "$@"; fi';
  return spawnSync('sh', ['-c', command, 'sh', ...paths.toSorted()], { encoding: 'utf8' }).stdout;
}

const spaceOf = (run: ProcessRun) => /--space (\S+)/.exec(run.err())?.[1] as string;

async function jobsOf(run: ProcessRun): Promise<JobWithEvents[]> {
  const { body } = await service.call('GET', `/spaces/${spaceOf(run)}/jobs?limit=100`);
  return Promise.all(body.map(async ({ id }: { id: string }) => (await service.call('GET', `/jobs/${id}`)).body));
}

async function keysOf(run: ProcessRun) {
  const { body } = await service.call('GET', '/keys');
  return body.filter(({ spaceId }: { spaceId: string }) => spaceId === spaceOf(run));
}

it('the checksums example survives kill -9 of a worker, and its output equals that of sha256sum', async () => {
  const odd = [
    'with spaces.txt',
    'späße 漢字 🗂.txt',
    '-dash',
    'quote\'s "both" $HOME *.txt',
    'back\\slash',
    'new\nline',
  ];
  const folder = await folderOf('many', {
    ...Object.fromEntries([...Array(60).keys()].map((i) => [`${i}.txt`, `content ${i}`])),
    ...Object.fromEntries(odd.map((name) => [name, name])),
    empty: '',
    'large.bin': Buffer.alloc(9 * 1024 * 1024, 2),
  });
  await mkdir(join(folder, 'a/b'), { recursive: true });
  await writeFile(join(folder, 'a/b/nested'), 'nested');
  await symlink(folder, join(folder, 'a/loop'));
  await symlink(join(folder, 'empty'), join(folder, 'a/link'));
  const output = join(dir, 'SHA256SUMS');
  const run = start([folder, '--workers', '3', '--kill-one', '--output', output]);

  expect([await run.exit(), run.err()]).toEqual([0, expect.stringContaining('69 of 69 files have a checksum\n')]);
  expect(run.out()).toBe(sumsOf(await pathsOf(folder)));
  expect(await readFile(output, 'utf8')).toBe(run.out());

  expect(run.err().match(/^Worker \d+ has ended \(SIGKILL\), starting another$/gm)).toHaveLength(1);
  const jobs = await jobsOf(run);
  expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);
  const [victim] = jobs.filter(({ payload }) => payload?.killsWorker);
  expect(victim?.attemptNumber).toBeGreaterThan(1);
  expect(victim?.events.find(({ type }) => type === 'retried')?.data).toMatchObject({ attemptNumber: 1 });

  const large = jobs.find(({ payload }) => payload?.path === join(folder, 'large.bin'));
  expect(large?.progress).toMatchObject({ percent: 100, message: 'Read 9437184 of 9437184 bytes' });
  const { text } = await service.call('GET', `/jobs/${large?.id}/logs`);
  expect(text).toContain(`SHA-256 is ${sumsOf([join(folder, 'large.bin')]).slice(0, 64)}`);
  expect([await keysOf(run), isGroupAlive(run.child)]).toEqual([[], false]);
});

it('the checksums example exits with 1 and the reason when it cannot read a file', async () => {
  const folder = await folderOf('unreadable', { one: '1', two: '2' });
  const readable = await pathsOf(folder);
  // Not even root can read the file: readdir returns another name for a name that is not UTF-8.
  const path = Buffer.concat([Buffer.from(`${folder}/gone`), Buffer.from(process.platform === 'linux' ? [0xff] : [])]);
  await writeFile(path, '');
  await chmod(path, 0);
  const run = start([folder, '--workers', '1']);

  expect([await run.exit(), run.out()]).toEqual([1, sumsOf(readable)]);
  expect(run.err()).toMatch(/\/gone.?: The job is dead: Error: (ENOENT|EACCES): .*\n2 of 3 files have a checksum\n/);
  expect((await jobsOf(run)).filter(({ status }) => status === 'dead')).toMatchObject([{ attemptNumber: 4 }]);
});

describe('run of the checksums example that is stopped while its worker reads a file', () => {
  async function startLong(name: string) {
    const folder = await folderOf(name, { huge: '' });
    await truncate(join(folder, 'huge'), 2 ** 40);
    const run = start([folder, '--workers', '1']);
    await until(async () => spaceOf(run) !== undefined && (await jobsOf(run))[0]?.progress !== undefined);
    return run;
  }

  it('the checksums example releases the job, revokes the key and leaves no process when it is stopped', async () => {
    const run = await startLong('interrupted');
    process.kill(-(run.child.pid as number), 'SIGINT');
    expect([await run.exit(), run.err()]).toEqual([1, expect.stringContaining('Stopped by SIGINT\n')]);
    expect(await jobsOf(run)).toMatchObject([{ status: 'pending', attemptNumber: 0 }]);
    expect([await keysOf(run), isGroupAlive(run.child)]).toEqual([[], false]);
  });

  it('the checksums example leaves no worker when only its main process is killed', async () => {
    const run = await startLong('killed');
    run.child.kill('SIGKILL');
    // The worker writes to the same pipe, which closes only when it has ended too.
    expect(await run.exit()).toBe(null);
    expect(await jobsOf(run)).toMatchObject([{ status: 'pending', attemptNumber: 0 }]);
  });
});

it.each([
  ['--help', {}, 0, '--kill-one '],
  ['', {}, 2, 'Give one folder, not 0\n\nUsage: '],
  ['/does/not/exist', {}, 2, '/does/not/exist is not a folder'],
  [`${tmpdir()} --workers 0`, {}, 2, '--workers must be a number from 1 to 99, not "0"'],
  [`${tmpdir()} --wrokers 2`, {}, 2, "Unknown option '--wrokers'"],
  [tmpdir(), { DATA_DIR: '/none' }, 2, 'There is no API key: start the service with npm start'],
  [
    fileURLToPath(new URL('.', import.meta.url)),
    { YARDMASTER_URL: 'http://127.0.0.1:1' },
    1,
    'Start the service with npm start',
  ],
])('the checksums example with "%s" and %j exits with %i and explains what to do', async (line, env, code, text) => {
  const run = start(line.split(' ').filter(Boolean), env);
  expect([await run.exit(), code === 0 ? run.out() : run.err()]).toEqual([code, expect.stringContaining(text)]);
});
