import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { goCommand } from '../../scripts/go-command.mjs';
import { endAll, runCommand } from '../cli/yardmaster.js';
import { VERSION } from '../support/version.js';
import { ROOT, script } from './commands.js';
import { writeImage } from './fake-image.js';

const { withRegistry } = await import(`${ROOT}scripts/release/registry.mjs`);

let dir = '';
let out = '';

/** Publish a part with just these variables. It must not block this process, which serves the registry of npm. */
async function publish(part: string, env: Record<string, string>) {
  const file = join(ROOT, 'scripts/release/publish.mjs');
  const child = runCommand(process.execPath, [file, part, out], { HOME: dir, ...env });
  return { code: await child.exit(), out: child.out(), err: child.err() };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'yardmaster-publish-'));
  out = join(dir, 'out');
  script('build', [out]);
  await writeImage(dir, join(out, 'image'), 'first');
}, 600_000);
afterEach(endAll);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('rehearses a release: image and chart are published twice, signed, verified, and pulled', () => {
  expect(script('rehearse', [out])).toContain('\nthe rehearsal has published and verified everything\n');
}, 120_000);

it('refuses an image and a chart of a version that exists with another content', async () => {
  await withRegistry(async (registry: string) => {
    const env = { IMAGE: `${registry}/yardmaster`, CHARTS: `${registry}/charts`, COSIGN_KEY: join(dir, 'cosign.key') };
    const keys = runCommand(goCommand('cosign'), ['generate-key-pair', '--output-key-prefix', join(dir, 'cosign')], {
      COSIGN_PASSWORD: 'test',
    });
    expect(await keys.exit()).toBe(0);
    for (const part of ['image', 'chart']) {
      expect(await publish(part, { ...env, COSIGN_PASSWORD: 'test' })).toMatchObject({ code: 0 });
    }
    const other = join(dir, 'other');
    cpSync(out, other, { recursive: true });
    rmSync(join(other, 'image'), { recursive: true });
    await writeImage(dir, join(other, 'image'), 'second');
    const chart = join(other, `chart/yardmaster-chart-${VERSION}.tgz`);
    writeFileSync(chart, Buffer.concat([readFileSync(chart), Buffer.from('x')]));
    const own = out;
    out = other;
    const [image, charts] = [await publish('image', env), await publish('chart', env)];
    out = own;
    expect([image.code, image.err]).toEqual([1, expect.stringContaining('exists with another digest')]);
    expect([charts.code, charts.err]).toEqual([1, expect.stringContaining('exists with another chart')]);
  });
}, 120_000);

describe('npm part', () => {
  interface Published {
    name: string;
    'dist-tags': Record<string, string>;
    versions: Record<string, { dist: { integrity: string } }>;
    authorization: string | undefined;
  }
  let server: Server;
  let published: Map<string, Published>;
  let env: Record<string, string>;

  beforeEach(async () => {
    published = new Map();
    server = createServer(async (request, response) => {
      const name = decodeURIComponent((request.url ?? '').slice(1).split('?')[0] as string);
      if (request.method === 'PUT') {
        const document = (await json(request)) as Published;
        published.set(name, { ...document, authorization: request.headers.authorization });
      }
      const known = published.get(name);
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(known ?? {}));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    env = { NPM_REGISTRY: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, NPM_TOKEN: 'secret' };
  });
  afterEach(() => {
    server.close();
  });

  it('publishes both packages with the token, and nothing when it runs again', async () => {
    expect(await publish('npm', env)).toMatchObject({ code: 0 });
    expect([...published.keys()].sort()).toEqual(['@yardmaster/sdk', 'yardmaster']);
    for (const file of readdirSync(join(out, 'npm'))) {
      const name = file.includes('sdk') ? '@yardmaster/sdk' : 'yardmaster';
      const hash = createHash('sha512')
        .update(readFileSync(join(out, 'npm', file)))
        .digest('base64');
      expect(published.get(name)).toMatchObject({
        authorization: 'Bearer secret',
        'dist-tags': { latest: VERSION },
        versions: { [VERSION]: { dist: { integrity: `sha512-${hash}` } } },
      });
    }
    const before = [...published.values()];
    const again = await publish('npm', env);
    expect([again.code, again.out.match(/is published already/g)]).toEqual([0, Array(2).fill('is published already')]);
    expect([...published.values()]).toEqual(before);
  });

  it('refuses a package that exists with another content', async () => {
    await publish('npm', env);
    const document = published.get('yardmaster') as Published;
    document.versions = { [VERSION]: { ...document.versions[VERSION], dist: { integrity: 'sha512-b3RoZXI=' } } };
    expect(await publish('npm', env)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`yardmaster@${VERSION} exists with another content`),
    });
  });
});

describe('go part', () => {
  const TAG = `sdk/go/v${VERSION}`;

  /** Put a gh on the PATH that keeps the tags of a repository in a file. */
  function withGh(tags: string) {
    const bin = join(dir, 'bin');
    const file = join(dir, 'tags');
    mkdirSync(bin, { recursive: true });
    writeFileSync(file, tags);
    const read = `grep -F "\${2#repos/a/b/git/ref/tags/} " "${file}" | cut -d' ' -f2 | grep .`;
    const write = `echo "\${4#ref=refs/tags/} \${6#sha=}" >>"${file}"`;
    writeFileSync(join(bin, 'gh'), `#!/bin/sh\nif [ "$2" = repos/a/b/git/refs ]; then ${write}; else ${read}; fi\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, GITHUB_REPOSITORY: 'a/b', GITHUB_SHA: 'c0ffee' };
    return { env, tags: () => readFileSync(file, 'utf8') };
  }

  it.each([
    ['there is none', '', 0, `${TAG} c0ffee\n`],
    ['it is at this commit', `${TAG} c0ffee\n`, 0, `${TAG} c0ffee\n`],
    ['it is at another commit, which is an error', `${TAG} bad\n`, 1, `${TAG} bad\n`],
  ])('tags the Go module in its subfolder when %s', async (_, before, code, after) => {
    const gh = withGh(before);
    expect([(await publish('go', gh.env)).code, gh.tags()]).toEqual([code, after]);
  });
});

it('refuses a part that does not exist', async () => {
  expect(await publish('pypi', {})).toMatchObject({ code: 2, err: expect.stringContaining('image, chart, npm, go') });
});
