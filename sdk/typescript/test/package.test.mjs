// What users install: the package in an empty folder, with a worker as a process of its own.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { jobOf, startFakeJobs } from './fake-jobs.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
let folder;
let files;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yardmaster-sdk-'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout);
  files = packed.files.map(({ path }) => path);
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)];
  await run('npm', install, { cwd: folder });
});

after(() => rm(folder, { recursive: true, force: true }));

test('the npm package contains its types, README and license, and no unneeded files', () => {
  for (const path of ['dist/index.js', 'dist/index.d.ts', 'dist/testing.d.ts', 'dist/worker/heartbeat-thread.js'])
    assert.ok(files.includes(path), path);
  const others = files.filter((path) => !/^dist\/.*\.(js|d\.ts)$/.test(path)).sort();
  assert.deepEqual(others, ['LICENSE', 'README.md', 'package.json']);
});

const WORKER = `
import { Worker, Yardmaster } from '@yardmaster/sdk';
const worker = new Worker(new Yardmaster()).on('a', async () => {
  for (const end = Date.now() + Number(process.env.BLOCK_MS); Date.now() < end; );
  setTimeout(() => worker.stop(), 50);
});
await worker.run();
process.stdout.write('drained');
`;

test('a worker of the package sends heartbeats and warns while its event loop is blocked, and its process ends', async () => {
  const beats = [];
  let isBlocked = true;
  const fake = await startFakeJobs([jobOf('j', { timeoutSeconds: 3 })], ({ url, body }) => {
    const actions = url.endsWith('/settle') ? body.outcomes.map(({ action }) => action) : [];
    if (isBlocked && actions.includes('keepalive')) beats.push(performance.now());
    if (JSON.stringify(body)?.includes('"complete"')) isBlocked = false;
    return undefined;
  });
  const { url, apiKey, space } = fake.options;
  const ofClient = { YARDMASTER_URL: url, YARDMASTER_API_KEY: apiKey, YARDMASTER_SPACE: space };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', WORKER], {
    cwd: folder,
    env: { ...process.env, ...ofClient, BLOCK_MS: '7000' },
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  await fake.close();
  assert.deepEqual([code, output], [0, 'drained'], errors);
  assert.ok(beats.length >= 4, `${beats.length} heartbeats`);
  assert.match(errors, /the event loop is blocked, by a handler of j\n/);
  assert.deepEqual(
    fake.outcomes.map(({ action }) => action),
    ['complete'],
  );
});

test('a worker starts in a program that runs with options of V8', async () => {
  const fake = await startFakeJobs([jobOf('j', {})]);
  const { url, apiKey, space } = fake.options;
  await writeFile(join(folder, 'worker.mjs'), WORKER);
  const env = {
    ...process.env,
    YARDMASTER_URL: url,
    YARDMASTER_API_KEY: apiKey,
    YARDMASTER_SPACE: space,
    BLOCK_MS: '0',
  };
  const { stdout } = await run(process.execPath, ['--max-old-space-size=512', 'worker.mjs'], { cwd: folder, env });
  await fake.close();
  assert.equal(stdout, 'drained');
});

const TYPES = `
import { NonRetryable, type StandardSchema, toPino, Worker, Yardmaster } from '@yardmaster/sdk';
import { run } from '@yardmaster/sdk/testing';

declare const schema: StandardSchema<{ width: string }, { width: number }>;
const client = new Yardmaster({ space: 'demo' });
const worker = new Worker(client, { concurrency: 20, drain: '25s', onLog: toPino(console as never) })
  .on('resize', schema, async (job, context) => {
    const width: number = job.payload.width;
    const page: number = context.checkpoint?.page ?? 0;
    await context.progress(40, 'Resizing', { decode: 100 });
    if (width === 0) throw new NonRetryable('404');
    if (page === 1) return context.release({ delay: '10m' });
    return { width };
  })
  .on<{ image: string }>('crop', ({ payload }) => payload.image);
// @ts-expect-error: the schema knows no height
worker.on('scale', schema, (job) => job.payload.height);
export const width: Promise<number> = client
  .create('resize', { image: 'cat.png' }, { unique: { key: 'k' }, retry: { delaySeconds: 5, factor: 2 } })
  .then((job) => job.result<{ width: number }>({ timeout: '60s' }))
  .then((result) => result.width);
export const status: Promise<'completed' | 'failed' | 'released'> = run(() => 1, {}).then((done) => done.status);
`;

test('the types of the package compile in a strict program, and a schema types the payload', async () => {
  await writeFile(join(folder, 'program.ts'), TYPES);
  const require = createRequire(import.meta.url);
  const { bin } = JSON.parse(await readFile(require.resolve('typescript/package.json'), 'utf8'));
  const tsc = join(require.resolve('typescript/package.json'), '..', bin.tsc);
  const types = join(require.resolve('@types/node/package.json'), '../..');
  const options = [
    '--strict',
    '--noEmit',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  const { stdout } = await run(
    process.execPath,
    [tsc, ...options, '--typeRoots', types, '--types', 'node', 'program.ts'],
    {
      cwd: folder,
    },
  ).catch((error) => error);
  assert.equal(stdout, '');
});
