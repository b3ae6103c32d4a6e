// Tests of the package as users install it: in an empty folder, with a worker in a separate process.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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

test('an installed worker sends heartbeats and warns while its event loop is blocked, and its process exits', async () => {
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
  assert.match(errors, /a handler is blocking the event loop: j\n/);
  assert.deepEqual(
    fake.outcomes.map(({ action }) => action),
    ['complete'],
  );
});

test('a worker starts in a program that runs with V8 options', async () => {
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

const tsc = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url));

/** Check files in the folder of the package. @returns what the compiler prints */
async function compile(sources, options) {
  const names = Object.keys(sources);
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text);
  const strict = { strict: true, noEmit: true, skipLibCheck: false, exactOptionalPropertyTypes: true };
  const config = { compilerOptions: { ...strict, target: 'es2022', ...options }, files: names };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  return run(tsc, ['--project', folder]).then(
    () => '',
    ({ stdout }) => stdout,
  );
}

const TYPED = `
import { type Context, type StandardSchema, toPino, Worker, type WorkerJob, Yardmaster } from '@yardmaster/sdk';
import { run } from '@yardmaster/sdk/testing';

interface Jobs {
  resize: { payload: { image: string }; result: { bytes: number }; checkpoint: { page: number } };
  clean: { result: string[] };
  maybe: { payload?: { a: number } };
}
export async function typed(): Promise<void> {
  const client = new Yardmaster<Jobs>({ space: 'demo' });
  const job = await client.create('resize', { image: 'cat.png' }, { delay: '5s' });
  const bytes: number = (await job.result({ timeout: '60s' })).bytes;
  const cleaned: string[] = await (await client.create('clean')).result();
  await client.createMany([{ name: 'clean' }, { name: 'resize', payload: { image: 'cat.png' } }]);
  const known: { bytes: number } = await client.handle<'resize'>(job.id).result();
  for await (const { type, status } of job.watch()) if (type === 'init') console.log(status, bytes, cleaned, known);
  await client.create('maybe');
  await client.create('maybe', { a: 1 });
  const either: 'resize' | 'maybe' = Math.random() > 0.5 ? 'resize' : 'maybe';
  await client.create(either, { image: 'cat.png' });
  // @ts-expect-error: no such name
  await client.create('resized', { image: 'cat.png' });
  // @ts-expect-error: no payload
  await client.create('resize');
  // @ts-expect-error: another payload
  await client.create('resize', { width: 320 });
  // @ts-expect-error: no such option
  await client.create('resize', { image: 'cat.png' }, { maxRetry: 3 });
  // @ts-expect-error: another payload in a list
  await client.createMany([{ name: 'resize', payload: {} }]);
  const worker = new Worker(client)
    .on('resize', async ({ payload }, context) => {
      await context.save({ page: (context.checkpoint?.page ?? 0) + 1 });
      return { bytes: payload.image.length };
    })
    .on('clean', () => ['a']);
  // @ts-expect-error: another result
  worker.on('clean', () => 7);
  const schema = {} as StandardSchema<{ width: string }, { width: number }>;
  worker.on('resize', schema, ({ payload }) => ({ bytes: payload.width }));
  // @ts-expect-error: the schema knows no height
  worker.on('resize', schema, ({ payload }) => payload.height);
  // @ts-expect-error: no such name
  worker.on('cleaned', () => ['a']);
}
export async function untyped(): Promise<void> {
  const client = new Yardmaster();
  const job = await client.create('any', { image: 'cat.png' });
  console.log((await job.result()).bytes);
  const handler = async (one: WorkerJob<{ image: string }>, context: Context) => context.signal.aborted || one.payload.image;
  await new Worker(client, { drain: '25s', onLog: toPino(console as never) }).on('any', handler).on('other', ({ payload }) => payload.image).run();
  console.log((await run(handler, { image: 'cat.png' })).status);
}
`;

for (const [kind, name, options] of [
  ['ES modules', 'typed.mts', { module: 'nodenext' }],
  ['CommonJS', 'typed.cts', { module: 'nodenext' }],
  ['a bundler', 'typed.ts', { module: 'esnext', moduleResolution: 'bundler' }],
])
  test(`the types of the package compile under the strictest settings, without the types of Node.js, for ${kind}`, async () => {
    assert.equal(await compile({ [name]: TYPED }, { types: [], ...options }), '');
  });

/** Declarations that the programs on the pages leave to the reader. */
const OF_READER = `
declare function freshToken(): Promise<string>;
declare function render(message: object): void;
declare function append(n: number, text: string): void;
declare const context: import('@yardmaster/sdk').Context;
declare const message: { type: string; data: { n: number; text: string } };
declare const n: number, text: string, jobId: string;
declare module 'standardwebhooks' {
  class Webhook { constructor(secret?: string); verify(body: string, headers: object): any }
}
`;

test('every JavaScript program on the pages compiles, as strict TypeScript if it uses the SDK', async () => {
  const pages = ['README.md', 'sdk/typescript/README.md'];
  for (const page of await readdir(join(root, '../../docs'))) if (page.endsWith('.md')) pages.push(`docs/${page}`);
  const programs = { strict: {}, plain: { 'reader.d.ts': OF_READER } };
  for (const page of pages) {
    const markdown = await readFile(join(root, '../..', page), 'utf8');
    for (const { 1: program, index } of markdown.matchAll(/^```[jt]s\n(.*?)^```$/gms)) {
      const name = `${page.replaceAll(/[/.]/g, '-')}-${markdown.slice(0, index).split('\n').length}`;
      if (program.includes("from '@yardmaster/sdk")) programs.strict[`${name}.mts`] = program;
      else programs.plain[`${name}.mjs`] = program;
    }
  }
  const modules = join(root, '../../node_modules');
  await symlink(join(modules, 'pino'), join(folder, 'node_modules/pino'));
  const options = { module: 'nodenext', typeRoots: [join(modules, '@types')], types: ['node'] };
  assert.ok(Object.keys(programs.strict).length >= 8);
  assert.equal(await compile(programs.strict, options), '');
  const plain = { allowJs: true, checkJs: true, strict: false, skipLibCheck: true };
  assert.equal(await compile(programs.plain, { ...options, ...plain, exactOptionalPropertyTypes: false }), '');
});
