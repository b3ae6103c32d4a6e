import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { ExampleRuns, endOf, interrupt, pathOf } from './example-runs.js';

// It needs Pillow and httpx in the interpreter YARDMASTER_PYTHON.

const runs = new ExampleRuns();

const python = process.env.YARDMASTER_PYTHON ?? 'python3';

const makeThumbnails = (space: string, ...args: string[]) =>
  runs.start('sh', [pathOf('thumbnails/run.sh'), ...args], space, { YARDMASTER_PYTHON: python });

/** Start the producer only, so that no worker takes its jobs. */
const createJobs = (space: string, folder: string) =>
  runs.start(python, [pathOf('thumbnails/producer.py'), folder], space, {
    PYTHONPATH: pathOf('../sdk/python/src'),
  });

/** Return an image of one color as BMP with 24 bits. */
function bmp(width: number, height: number): Buffer {
  const head = Buffer.alloc(54);
  const bytes = Math.ceil((width * 3) / 4) * 4 * height;
  head.write('BM');
  for (const [at, value] of [
    [2, 54 + bytes],
    [10, 54],
    [14, 40],
    [18, width],
    [22, height],
  ] as const)
    head.writeUInt32LE(value, at);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  return Buffer.concat([head, Buffer.alloc(bytes, 0x80)]);
}

it('the thumbnails example makes a thumbnail of each image, and the same files when it is rerun', async () => {
  const folder = join(runs.dir, 'images');
  await mkdir(folder);
  await writeFile(join(folder, 'large.bmp'), bmp(640, 480));
  await writeFile(join(folder, 'small.BMP'), bmp(10, 20));
  await writeFile(join(folder, 'notes.txt'), 'no image');
  const target = join(folder, 'thumbnails');
  const files = ['large.bmp.jpg', 'small.BMP.jpg'];
  const run = async () => {
    const { code, out } = await endOf(makeThumbnails('thumbnails', folder));
    expect([code, out]).toEqual([0, `320x240  ${target}/large.bmp.jpg\n10x20  ${target}/small.BMP.jpg\n`]);
    expect((await readdir(target)).sort()).toEqual(files);
    return Promise.all(files.map((file) => readFile(join(target, file))));
  };
  const first = await run();
  expect(first.map((bytes) => bytes.readUInt16BE(0))).toEqual([0xffd8, 0xffd8]);
  expect(await run()).toEqual(first);
});

it('the thumbnails example exits with 1 and makes the job of an invalid image dead immediately', async () => {
  const folder = join(runs.dir, 'broken');
  await mkdir(folder);
  await writeFile(join(folder, 'good.bmp'), bmp(4, 4));
  await writeFile(join(folder, 'text.png'), 'no image');
  await writeFile(join(folder, 'cut.bmp'), bmp(640, 480).subarray(0, 1_000));
  const { code, out, err } = await endOf(makeThumbnails('broken', folder));
  expect([code, out]).toEqual([1, `4x4  ${folder}/thumbnails/good.bmp.jpg\n`]);
  expect(err).toContain('2 of 3 images have no thumbnail');
  for (const file of ['cut.bmp', 'text.png']) expect(err).toContain(`${join(folder, file)} is not a valid image: `);
  const ends = (await runs.jobsOf('broken')).map(({ status, attemptNumber }) => `${status} ${attemptNumber}`);
  expect(ends.sort()).toEqual(['completed 1', 'dead 1', 'dead 1']);
  expect(await readdir(join(folder, 'thumbnails'))).toEqual(['good.bmp.jpg']);
});

it('the thumbnails example continues the jobs of an interrupted run', async () => {
  const folder = join(runs.dir, 'interrupted');
  await mkdir(folder);
  for (const name of ['1.bmp', '2.bmp']) await writeFile(join(folder, name), bmp(4, 4));
  const first = createJobs('interrupted', folder);
  await until(async () => (await runs.jobsOf('interrupted')).length === 2);
  interrupt(first);
  expect(await endOf(first)).toEqual({
    code: 130,
    out: '',
    err: 'Stopped; the same command continues with the jobs\n',
  });
  expect(await endOf(makeThumbnails('interrupted', folder))).toMatchObject({ code: 0 });
  expect(await runs.jobsOf('interrupted')).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
});

it('the thumbnails example exits with 1 when a folder has no images', async () => {
  const folder = join(runs.dir, 'no-images');
  await mkdir(folder);
  const { code, err } = await endOf(makeThumbnails('no-images', folder));
  expect([code, err]).toEqual([1, expect.stringContaining(`${folder} has no images\n`)]);
});
