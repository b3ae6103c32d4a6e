import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { VERSION } from '../support/version.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const script = `${repository}scripts/release/version.mjs`;
const { placesOf } = await import(`${repository}scripts/release/places.mjs`);
const FILES: string[] = placesOf(repository, VERSION).map(({ file }: { file: string }) => file);
const GOLDEN = `test/golden/${VERSION}.json`;

let root: string;

/** Run the script on a copy of the files with a version. */
function run(...args: string[]) {
  const env = { PATH: process.env.PATH };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, '--root', root], {
    encoding: 'utf8',
    env,
  });
  return { status, stdout, stderr };
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const edit = (file: string, from: string | RegExp, to: string) =>
  writeFileSync(join(root, file), read(file).replace(from, to));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'yardmaster-version-'));
  for (const file of [...FILES, 'CHANGELOG.md', 'sdk/go/go.mod', GOLDEN]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    copyFileSync(join(repository, file), join(root, file));
  }
});
afterEach(() => rmSync(root, { recursive: true }));

describe('release version', () => {
  it('is the same in all places of the repository', () => {
    expect(run('check')).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it('is written by set into all places, and into the changelog with a date', () => {
    expect(run('set', '1.4.0', '--date', '2030-02-03').status).toBe(0);
    expect(run('check').stdout).toBe('1.4.0\n');
    for (const file of FILES.filter((each) => each !== 'package-lock.json')) {
      expect({ file, isOld: read(file).includes(`"${VERSION}"`) }).toEqual({ file, isOld: false });
    }
    expect(JSON.parse(read('apps/cli/package.json'))).toMatchObject({
      version: '1.4.0',
      dependencies: { '@yardmaster/fsck': '1.4.0', commander: expect.stringMatching(/^\^\d/) },
    });
    const lock = JSON.parse(read('package-lock.json'));
    expect(lock.packages['packages/store']).toMatchObject({
      version: '1.4.0',
      dependencies: { '@yardmaster/redis': '1.4.0' },
    });
    expect(read('CHANGELOG.md')).toContain('\n## Unreleased\n\n## 1.4.0 - 2030-02-03\n\n### Added\n');
  });

  it('changes nothing when it is set to what it is, except the heading of the changelog, once', () => {
    const before = FILES.map(read);
    run('set', VERSION, '--date', '2030-02-03');
    const changelog = read('CHANGELOG.md');
    run('set', VERSION, '--date', '2031-02-03');
    expect([FILES.map(read), read('CHANGELOG.md')]).toEqual([before, changelog]);
  });

  it('is written as Python writes it in the Python SDK', () => {
    run('set', '2.0.0-rc.1');
    expect(read('sdk/python/pyproject.toml')).toContain('\nversion = "2.0.0rc1"\n');
    expect(read('sdk/go/client.go')).toContain('const Version = "2.0.0-rc.1"');
    expect(run('check').status).toBe(0);
  });

  it.each(['1.2', 'v1.2.3', '1.2.3-dev', '01.2.3', '1.2.3+build'])('is never %s', (version) => {
    expect(run('set', version).status).toBe(2);
    expect(read('package.json')).toContain(`"version": "${VERSION}"`);
  });

  it.each(FILES)('is missed when it differs in %s', (file) => {
    edit(file, VERSION, '9.9.9');
    const fault = file === 'package.json' ? /instead of 9\.9\.9$/m : RegExp(`^${file} has 9\\.9\\.9 instead of`, 'm');
    expect(run('check')).toMatchObject({ status: 1, stderr: expect.stringMatching(fault) });
  });

  it('is missed when a place of it has gone', () => {
    edit('Dockerfile', 'ARG VERSION=', 'ARG RELEASE=');
    expect(run('check').stderr).toBe('Dockerfile has 0 versions instead of 1\n');
    expect(run('set', '1.4.0')).toMatchObject({ status: 1, stderr: 'Dockerfile has 0 versions instead of 1\n' });
    expect(read('package.json')).toContain(`"version": "${VERSION}"`);
  });
});

describe('tag of a release', () => {
  const check = (tag = `v${VERSION}`) => run('check', '--tag', tag);

  beforeEach(() => {
    run('set', VERSION, '--date', '2030-02-03');
  });

  it('may be made when everything is ready', () => {
    expect(check()).toEqual({ status: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it.each<[string, () => unknown, string]>([
    ['the changelog says nothing', () => edit('CHANGELOG.md', /## \d.*[\s\S]*/, ''), 'CHANGELOG.md has no text'],
    ['there is no golden dump', () => rmSync(join(root, GOLDEN)), 'test/golden/make.mjs has not been run'],
    [
      'Go wants another module path',
      () => edit('sdk/go/go.mod', '/sdk/go', '/sdk/go/v3'),
      'sdk/go/go.mod must end with',
    ],
    [
      'npm would refuse the provenance',
      () => edit('sdk/typescript/package.json', 'yardmaster/yardmaster.git', 'fork/yardmaster.git'),
      'sdk/typescript/package.json names another repository',
    ],
  ])('is refused when %s', (_, damage, fault) => {
    damage();
    const { status, stderr } = check();
    expect([status, stderr]).toEqual([1, expect.stringContaining(fault)]);
  });

  it('is refused when it is of another version', () => {
    expect(check('v9.0.0').stderr).toBe(`the tag is v9.0.0, and the version ${VERSION}\n`);
  });

  it('has its part of the changelog as notes', () => {
    edit(
      'CHANGELOG.md',
      /## \d[\s\S]*/,
      `## ${VERSION} - 2030-02-03\n\n- Better.\n\n## 0.0.1 - 2029-01-01\n\n- First.\n`,
    );
    expect(run('notes').stdout).toBe('- Better.\n');
  });
});
