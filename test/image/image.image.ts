import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { type RedisNode, startNode } from '../support/redis/node.js';
import { until } from '../support/until.js';
import { buildImage, type Image, makeReadOnly, pathsIn } from './build.js';
import { isIgnored } from './context.js';
import { ROOT, readDockerfile } from './dockerfile.js';
import { nodeBinary } from './node-binary.js';

/** Largest size of the app, without node and the base image. */
const MOST_MB = 25;

const ADMIN_KEY = 'admin-key-of-the-image-of-yardmaster';
const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')).packages as Record<string, { dev?: boolean }>;

let dir: string;
let image: Image;
let app: string;
let files: string[];
let redis: RedisNode;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'yardmaster-image-'));
  chmodSync(dir, 0o755); // The processes run as another user.
  const slim = join(dir, 'base');
  mkdirSync(join(slim, 'usr/local/bin'), { recursive: true });
  copyFileSync(nodeBinary(readDockerfile().args.NODE_VERSION as string), join(slim, 'usr/local/bin/node'));
  const bare = join(dir, 'bare');
  mkdirSync(bare);
  image = buildImage({ dir, bases: { node: slim, 'gcr.io/distroless/cc-debian12': bare } });
  app = join(image.root, image.cwd);
  files = pathsIn(app);
  makeReadOnly(image.root);
  redis = await startNode({ lines: (port) => [`port ${port}`] });
}, 300_000);

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
afterAll(async () => {
  await redis?.stop();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

/** Run a command in the image's working folder, with its variables and as its user. */
function runIn([program, ...args]: string[], env: Record<string, string> = {}) {
  const [uid, gid] = image.user.split(':').map(Number) as [number, number];
  const who = process.getuid?.() === 0 ? { uid, gid } : {};
  const child = spawn(join(image.root, 'usr/local/bin', program as string), args, {
    cwd: app,
    env: { ...image.env, ...env },
    ...who,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

/** Start a command that serves, and wait until it is ready. */
async function serve(command: string[], env: Record<string, string> = {}) {
  const port = await freePort();
  const made = runIn(command, {
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    ADMIN_API_KEY: ADMIN_KEY,
    ...env,
    PORT: `${port}`,
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (made.child.exitCode !== null) throw new Error(made.output());
    return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
  });
  return { ...made, url };
}

async function createJob(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/spaces/image/jobs`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: '{"name":"work"}',
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

it('the built image has the metadata with which it runs', () => {
  expect(image).toMatchObject({
    cwd: '/app',
    user: '1000:1000',
    env: { NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '8080' },
    cmd: ['node', 'apps/standalone/dist/main.js'],
    exposed: ['8080'],
    stopSignal: 'SIGTERM',
  });
  const { description } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(image.labels).toMatchObject({
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.licenses': 'MIT',
  });
});

it('the built image is smaller than its limit', () => {
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(app, file)).size, 0);
  process.stdout.write(`The app takes ${(bytes / 1e6).toFixed(1)} MB in ${files.length} files\n`);
  expect(bytes / 1e6).toBeLessThan(MOST_MB);
});

it('the built image contains no sources, tests, build tools or files of the build machine', () => {
  const ours = files.filter((file) => !file.startsWith('node_modules/'));
  expect(
    ours.filter((file) => /\.(ts|lua|map|tsbuildinfo)$|(^|\/)(src|test|lua|scripts)(\/|$)|tsconfig|\.lock/.test(file)),
  ).toEqual([]);
  expect(ours.filter((file) => !file.includes('/'))).toEqual(['apps', 'node_modules', 'package.json', 'packages']);
  const strange = [
    '.env',
    '.git/config',
    '.data/admin-key',
    'apps/api/dist/main.js',
    'apps/api/node_modules/x',
    'test/x.ts',
  ];
  expect(strange.filter((path) => !isIgnored(path))).toEqual([]);
  expect(existsSync(join(app, 'packages/store/dist/script/scripts.generated.js'))).toBe(true);
});

it('the built image contains only production packages of the lock file', () => {
  const packages = files.filter(
    (file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@.][^/]*$/.test(file) && !lstatSync(join(app, file)).isSymbolicLink(),
  );
  expect(packages.length).toBeGreaterThan(50);
  const installed = packages.filter((path) => existsSync(join(app, path, 'package.json')));
  expect(installed.filter((path) => lock[path] === undefined || lock[path].dev)).toEqual([]);
  expect(files.filter((file) => /node_modules\/(typescript|jest|@biomejs|@swc)$/.test(file))).toEqual([]);
});

it('the built image contains no link to a path outside', () => {
  const links = files.filter((file) => lstatSync(join(app, file)).isSymbolicLink());
  expect(links.length).toBeGreaterThan(5);
  const out = links.filter((link) => relative(realpathSync(app), realpathSync(join(app, link))).startsWith('..'));
  expect(out).toEqual([]);
});

it.each(['api', 'standalone'])(
  '%s in the built image accepts a job, serves the dashboard, and exits with 0 on SIGTERM',
  async (name) => {
    const { child, ended, url } = await serve(
      name === 'standalone' ? image.cmd : ['node', `apps/${name}/dist/main.js`],
    );
    await createJob(url);
    expect((await fetch(`${url}/ui/`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
);

it.each(['gateway', 'scheduler'])('%s in the built image becomes ready, and exits with 0 on SIGTERM', async (name) => {
  const { child, ended } = await serve(['node', `apps/${name}/dist/main.js`]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it('the command line in the built image watches a job through a gateway until it ends', async () => {
  const api = await serve(['node', 'apps/api/dist/main.js']);
  const gateway = await serve(['node', 'apps/gateway/dist/main.js']);
  const id = await createJob(api.url);
  const env = { YARDMASTER_URL: gateway.url, YARDMASTER_API_KEY: ADMIN_KEY };
  const watch = runIn(['node', 'apps/cli/bin/yardmaster.mjs', 'watch', id], env);
  await until(() => watch.output().includes('init'));
  await fetch(`${api.url}/api/v1/jobs/${id}/kill`, { method: 'POST', headers: { 'x-api-key': ADMIN_KEY } });
  expect(await watch.ended).toBe(4);
  expect(watch.output()).toContain('killed');
});

it('the processes of the built image write nothing to its file system', () => {
  expect(pathsIn(app)).toEqual(files);
});
