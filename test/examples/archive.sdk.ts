import { spawnSync } from 'node:child_process';
import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ExampleRuns, endOf, interrupt, pathOf } from './example-runs.js';

// It needs Go.

const runs = new ExampleRuns();

// No download is needed, so a test must not try one.
const offline = { GOTOOLCHAIN: 'local', GOPROXY: 'off' };
const archive = (space: string, folder: string, file: string) =>
  runs.start('go', ['-C', pathOf('archive'), 'run', '.', folder, file], space, offline);

it('the archive example writes an archive and its checksum, and the same bytes when it is rerun', async () => {
  const folder = join(runs.dir, 'to-archive');
  await mkdir(join(folder, 'a/empty'), { recursive: true });
  await writeFile(join(folder, 'a/large.bin'), Buffer.alloc(1_000_000, 7));
  await writeFile(join(folder, 'späße.txt'), 'text');
  await symlink('a/large.bin', join(folder, 'link'));
  const file = join(runs.dir, 'archives/made.tar.gz');
  await mkdir(join(runs.dir, 'archives'));
  const first = await endOf(archive('archive', folder, file));
  expect(first).toEqual({ code: 0, out: expect.stringMatching(/^[0-9a-f]{64} {2}.*made\.tar\.gz\n$/), err: '' });
  const sums = spawnSync('sh', ['-c', 'if command -v sha256sum >&2; then sha256sum -c; else shasum -a 256 -c; fi'], {
    input: first.out,
  });
  expect(sums.status).toBe(0);

  const into = join(runs.dir, 'unpacked');
  await mkdir(into);
  expect(spawnSync('tar', ['-xzf', file, '-C', into]).status).toBe(0);
  expect(spawnSync('diff', ['-r', folder, join(into, 'to-archive')], { encoding: 'utf8' }).stdout).toBe('');
  expect(await endOf(archive('archive', folder, file))).toEqual(first);
  expect(await readdir(join(runs.dir, 'archives'))).toEqual(['made.tar.gz']);
  const [job] = await runs.jobsOf('archive');
  expect(job.events.findLast(({ type }: { type: string }) => type === 'progress').data.message).toMatch(/^1000004 of /);
});

it('the archive example exits with 1 and makes the job dead immediately if the folder is missing', async () => {
  const run = await endOf(archive('no-folder', join(runs.dir, 'missing'), join(runs.dir, 'missing.tar.gz')));
  expect(run).toMatchObject({ code: 1, err: expect.stringContaining(`${join(runs.dir, 'missing')} is not a folder`) });
  expect(await runs.jobsOf('no-folder')).toMatchObject([{ status: 'dead', attemptNumber: 1 }]);
});

it('the archive example continues the job of an interrupted run, and writes nothing when the job is killed', async () => {
  const folder = join(runs.dir, 'endless');
  const target = join(runs.dir, 'killed-archive');
  await Promise.all([mkdir(folder), mkdir(target)]);
  await writeFile(join(folder, 'first'), 'read before the rest');
  // A sparse file, which takes minutes to compress and no space.
  await writeFile(join(folder, 'second'), '');
  await truncate(join(folder, 'second'), 200 * 1024 ** 3);
  const run = () => archive('killed-archive', folder, join(target, 'made.tar.gz'));
  const first = run();
  await runs.untilRunning('killed-archive');
  interrupt(first);
  expect(await endOf(first)).toMatchObject({ code: 1, err: expect.stringContaining('stopped; the same command') });
  expect(await runs.jobsOf('killed-archive')).toMatchObject([{ status: 'pending', attemptNumber: 0 }]);

  const second = run();
  await runs.killRunning('killed-archive');
  expect(await runs.jobsOf('killed-archive')).toHaveLength(1);
  expect(await endOf(second)).toMatchObject({ code: 1, err: expect.stringContaining('the job was killed') });
  expect(await readdir(target)).toEqual([]);
});
