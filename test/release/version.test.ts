import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { VERSION } from '../support/version.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const { packages } = JSON.parse(readFileSync(`${repository}package-lock.json`, 'utf8'));
const manifests = Object.keys(packages)
  .filter((folder) => !folder.includes('node_modules/'))
  .map((folder) => join(folder, 'package.json'));
const MARKED = [
  'docker-compose.yml',
  'helm/yardmaster/Chart.yaml',
  'sdk/go/client.go',
  'sdk/python/src/yardmaster/__init__.py',
];
const OTHERS = ['package-lock.json', 'sdk/go/go.mod', 'release-please-config.json'];

let root: string;

// The copy is of a released version, whatever the repository is.
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'yardmaster-version-'));
  for (const file of [...manifests, ...MARKED, ...OTHERS]) cpSync(join(repository, file), join(root, file));
  writeFileSync(join(root, '.release-please-manifest.json'), JSON.stringify({ '.': VERSION }));
  writeFileSync(join(root, 'CHANGELOG.md'), `## Unreleased\n\n## ${VERSION} - 2030-02-03\n`);
});
afterEach(() => rmSync(root, { recursive: true }));

/** Check the versions of the copy, and return the faults. */
const faults = () =>
  spawnSync(process.execPath, [`${repository}scripts/release/version.mjs`], { cwd: root, encoding: 'utf8' }).stderr;

/** Replace a text of a file everywhere. */
function edit(file: string, from: string, to: string): void {
  const path = join(root, file);
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to));
}

it('the version check finds no fault in the repository', () => {
  expect(faults()).toBe('');
});

it('the version check finds a different version in each place', () => {
  const places = [...manifests.filter((file) => file !== 'package.json'), ...MARKED, 'package-lock.json'];
  for (const file of places) edit(file, VERSION, '9.9.9');
  const found = faults();
  expect(places.filter((file) => !found.includes(`${file} has another version`))).toEqual([]);
});

it.each<[fault: string, file: string, from: string, to: string, expected: string]>([
  [
    'a place without its mark',
    'sdk/go/client.go',
    'x-release-please-version',
    '',
    'sdk/go/client.go has another version',
  ],
  ['a changelog without a heading for changes', 'CHANGELOG.md', '## Unreleased', '', 'CHANGELOG.md must begin with'],
  ['a changelog without this release', 'CHANGELOG.md', `## ${VERSION} -`, '## 0.0.1 -', 'CHANGELOG.md has no heading'],
  ['a Go module without its major version', 'package.json', VERSION, '2.0.0', 'sdk/go/go.mod must end with /v2'],
])('the version check finds %s', (_, file, from, to, expected) => {
  edit(file, from, to);
  expect(faults()).toContain(expected);
});
