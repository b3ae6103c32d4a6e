import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { buildImage, commandsIn, docker, ROOT, untilStatus, withEngine } from '../containers/engine.js';
import { until } from '../support/until.js';

/** Largest size of the app, without node and the base image. */
const MOST_MB = 16;
const IMAGE = `yardmaster-test-${process.pid}`;
const NETWORK = IMAGE;
const ADMIN_KEY = 'admin-key-of-the-image-of-yardmaster';
/** What a careful operator takes from a container. */
const CONFINED = [
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--pids-limit=64',
  '--memory=256m',
];

const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')).packages as Record<string, { dev?: boolean }>;

/** A file of the image, as tar lists it. */
interface Entry {
  type: string;
  owner: string;
  size: number;
  path: string;
  /** Target of a link. */
  target: string | undefined;
}

withEngine('the image', () => {
  let entries: Entry[];
  let redis: string;
  const started: string[] = [];

  beforeAll(async () => {
    await buildImage(IMAGE);
    await docker('network', 'create', NETWORK);
    redis = await docker('run', '-d', '--network', NETWORK, '--network-alias', 'redis', 'redis:7.4-alpine');
    entries = await filesOf(IMAGE);
  }, 900_000);
  afterEach(async () => {
    if (started.length > 0) await docker('rm', '-f', '-v', ...started.splice(0));
  });
  afterAll(async () => {
    await docker('rm', '-f', '-v', redis);
    await docker('network', 'rm', NETWORK);
    await docker('rmi', '-f', IMAGE);
  }, 60_000);

  /** Start a container, with options of `docker run` before the command. */
  async function start(options: string[], command: string[] = []) {
    const id = await docker('run', '-d', '--network', NETWORK, '-p', '127.0.0.1:0:8080', ...options, IMAGE, ...command);
    started.push(id);
    const log = async () => docker('logs', id);
    const stop = async () => {
      await docker('stop', id);
      return Number(await docker('inspect', '-f', '{{.State.ExitCode}}', id));
    };
    return { id, log, stop };
  }

  /** Start a container that serves, and wait until it is ready. */
  async function serve(options: string[] = [], command: string[] = []) {
    const container = await start(
      ['-e', 'REDIS_URL=redis://redis', '-e', `ADMIN_API_KEY=${ADMIN_KEY}`, ...options],
      command,
    );
    const url = `http://${await docker('port', container.id, '8080')}`;
    await untilStatus(`${url}/readyz`, 200);
    return { ...container, url };
  }

  it('the image has the expected metadata', async () => {
    const [{ Config }] = JSON.parse(await docker('image', 'inspect', IMAGE));
    const { description } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    expect(Config).toMatchObject({
      WorkingDir: '/app',
      User: '65532:65532',
      Env: expect.arrayContaining(['NODE_ENV=production', 'HOST=0.0.0.0', 'PORT=8080', 'DATA_DIR=/data']),
      Cmd: ['node', 'apps/standalone/dist/main.js'],
      ExposedPorts: { '8080/tcp': {} },
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.description': description,
        'org.opencontainers.image.licenses': 'MIT',
      },
    });
  });

  it('the app in the image is smaller than its limit and owned by root', () => {
    const app = entries.filter(({ path }) => path.startsWith('app/'));
    const bytes = app.reduce((sum, { size }) => sum + size, 0);
    process.stdout.write(`The app takes ${(bytes / 1e6).toFixed(1)} MB in ${app.length} files\n`);
    expect(bytes / 1e6).toBeLessThan(MOST_MB);
    expect(app.filter(({ owner }) => owner !== '0/0')).toEqual([]);
    const own = entries.filter(({ owner }) => owner.startsWith('65532/')).map(({ path }) => path);
    expect(own.sort()).toEqual(['config/', 'data/', 'home/nonroot/']);
  });

  it('the image contains no sources, tests, build tools or files of the build machine', () => {
    const ours = entries.map(({ path }) => path).filter((path) => /^app\/(?!.*node_modules)/.test(path));
    expect(ours).toContain('app/packages/store/dist/script/scripts.generated.js');
    expect(
      ours.filter((path) =>
        /\.(ts|lua|map|tsbuildinfo)$|\/(src|test|lua|scripts)(\/|$)|tsconfig|\.lock|\/\./.test(path),
      ),
    ).toEqual([]);
    expect([...new Set(ours.map((path) => path.split('/')[1]))].sort()).toEqual([
      '',
      'apps',
      'package.json',
      'packages',
      'sdk',
    ]);
  });

  it('the image contains only production packages of the lock file, with their licenses', () => {
    const folders = entries.flatMap(
      ({ path }) => /^app\/(.*node_modules\/(?:@[^/]+\/)?[^/@.]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    expect(folders.length).toBeGreaterThan(50);
    expect(folders.filter((path) => lock[path] === undefined || lock[path].dev)).toEqual([]);
    const licenses = entries
      .filter(({ path }) => /\/(licen[sc]e|copying)[^/]*$/i.test(path))
      .map(({ path }) => posix.dirname(path).slice('app/'.length));
    const without = folders.filter((path) => !licenses.includes(path) && !path.includes('@msgpackr-extract'));
    expect(without).toEqual([]);
  });

  it('the image contains no link to a path outside the app', () => {
    const links = entries.filter(({ type, path }) => type === 'l' && path.startsWith('app/'));
    expect(links.length).toBeGreaterThan(5);
    const paths = new Set(entries.map(({ path }) => path.replace(/\/$/, '')));
    const outside = links.filter(({ path, target }) => !paths.has(posix.join(posix.dirname(path), target as string)));
    expect(outside).toEqual([]);
  });

  it('the image starts as docs/install.md shows, and keeps its admin key in its volume', async () => {
    const shown = commandsIn('docs/install.md', '## Run the image').replace(/\\\n/g, '');
    const readKey = String(/node -p '(.*)'/.exec(commandsIn('docs/install.md', 'The admin key is created'))?.[1]);
    const volume = `${IMAGE}-data`;
    const options = String(/^docker run -d --name \S+ -p \S+ (.*) yardmaster$/m.exec(shown)?.[1])
      .replace('redis.example.com', 'redis')
      .replace('yardmaster:', `${volume}:`);
    const keys = [];
    for (let n = 0; n < 2; n++) {
      const { id } = await start(options.trim().split(/\s+/));
      const url = `http://${await docker('port', id, '8080')}`;
      await untilStatus(`${url}/readyz`, 200);
      keys.push(await docker('exec', id, 'node', '-p', readKey));
      expect((await createJob(url, keys[n] as string)).status).toBe(201);
      await docker('rm', '-f', ...started.splice(0));
    }
    await docker('volume', 'rm', volume);
    expect(keys[0]).toMatch(/^ym_admin_/);
    expect(keys[1]).toBe(keys[0]);
  });

  it.each([
    ['without a Redis says in one line what to set', [], /^.*\nThis image has no Redis: set REDIS_URL .*$/],
    [
      'that cannot write its key names the two variables that help',
      ['-e', 'REDIS_URL=redis://redis', '--read-only'],
      /^The admin key could not be stored \(EROFS.*\)\. Set DATA_DIR .*, or set ADMIN_API_KEY\.$/m,
    ],
  ])('a container %s', async (_, options, message) => {
    await expect(docker('run', '--rm', '--network', NETWORK, ...options, IMAGE)).rejects.toThrow(message);
  });

  it.each(['api', 'standalone'])(
    '%s with minimal privileges accepts a job, serves the dashboard and exits with 0',
    async (name) => {
      const { url, stop } = await serve(CONFINED, ['node', `apps/${name}/dist/main.js`]);
      expect((await createJob(url, ADMIN_KEY)).status).toBe(201);
      expect((await fetch(`${url}/ui/`)).status).toBe(200);
      expect(await stop()).toBe(0);
    },
  );

  it.each(['gateway', 'scheduler'])('%s with minimal privileges becomes ready and exits with 0', async (name) => {
    const { stop } = await serve(CONFINED, ['node', `apps/${name}/dist/main.js`]);
    expect(await stop()).toBe(0);
  });

  it('a stopped container answers an open poll with an empty response', async () => {
    const { url, stop } = await serve();
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
    const body = JSON.stringify({ waitSeconds: 20 });
    const poll = fetch(`${url}/api/v1/spaces/empty/jobs/poll`, { method: 'POST', headers, body });
    await until(async () => /^yardmaster_waiting_calls [1-9]/m.test(await (await fetch(`${url}/metrics`)).text()));
    expect(await stop()).toBe(0);
    const response = await poll;
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { jobs: [] } });
  });

  it('a container without its Redis is live but not ready, and recovers with it', async () => {
    const { url } = await serve();
    await docker('stop', redis);
    await untilStatus(`${url}/readyz`, 503);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    await docker('start', redis);
    await untilStatus(`${url}/readyz`, 200);
  });

  it('the CLI in the image watches a job through a gateway until it ends', async () => {
    const api = await serve([], ['node', 'apps/api/dist/main.js']);
    await serve(['--network-alias', 'gateway'], ['node', 'apps/gateway/dist/main.js']);
    const { id } = (await (await createJob(api.url, ADMIN_KEY)).json()) as { id: string };
    const env = ['-e', 'YARDMASTER_URL=http://gateway:8080', '-e', `YARDMASTER_API_KEY=${ADMIN_KEY}`];
    const watch = await start(env, ['node', 'apps/cli/bin/yardmaster.mjs', 'watch', id]);
    await until(async () => (await watch.log()).includes('init'));
    await fetch(`${api.url}/api/v1/jobs/${id}/kill`, { method: 'POST', headers: { 'x-api-key': ADMIN_KEY } });
    expect(Number(await docker('wait', watch.id))).toBe(4);
    expect(await watch.log()).toContain('killed');
  });
});

const createJob = (url: string, key: string) =>
  fetch(`${url}/api/v1/spaces/image/jobs`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{"name":"work"}',
  });

/** List all files of an image. */
async function filesOf(image: string): Promise<Entry[]> {
  const id = await docker('create', image);
  const list = execFileSync('sh', ['-c', `docker export ${id} | tar --numeric-owner -tvf -`], { encoding: 'utf8' });
  await docker('rm', id);
  return [...list.matchAll(/^(.)\S+ +(\S+) +(\d+) +\S+ +\S+ (.+?)(?: -> (.+))?$/gm)].map(
    ([, type, owner, size, path, target]) => ({
      ...{ type: type as string, owner: owner as string, path: path as string, target },
      size: Number(size),
    }),
  );
}
