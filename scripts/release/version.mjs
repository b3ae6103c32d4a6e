// The version of everything that is released: services, chart, command and SDKs have the same.
//
//   node scripts/release/version.mjs check              do all places have the version of package.json?
//   node scripts/release/version.mjs check --tag v1.2.3  … and can it be released as this tag?
//   node scripts/release/version.mjs set 1.2.3          write it into all places, and a heading into CHANGELOG.md
//   node scripts/release/version.mjs notes              print what CHANGELOG.md says about it
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasUnreleased, release, sectionOf } from './changelog.mjs';
import { faultsOf, placesOf, writePlaces } from './places.mjs';

/** A version that npm, Helm, Go and Python all accept: pre-releases are alpha, beta and rc, with a number. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(alpha|beta|rc)\.(0|[1-9]\d*))?$/;

const { values, positionals } = parseArgs({
  options: { root: { type: 'string' }, tag: { type: 'string' }, date: { type: 'string' } },
  allowPositionals: true,
});
const root = values.root ?? fileURLToPath(new URL('../../', import.meta.url));
const read = (file) => readFileSync(join(root, file), 'utf8');
const [verb, given] = positionals;

/** Faults that matter only for a release. */
function faultsOfRelease(version, tag) {
  const [, path, major] = /^module (github\.com\/\S+?)(?:\/v(\d+))?$/m.exec(read('sdk/go/go.mod')) ?? [];
  const wantedMajor = version.startsWith('0.') || version.startsWith('1.') ? undefined : version.split('.')[0];
  const owner = /^github\.com\/([^/]+\/[^/]+)\//.exec(path ?? '')?.[1] ?? '';
  const repository = process.env.GITHUB_REPOSITORY ?? owner;
  const manifest = JSON.parse(read('sdk/typescript/package.json'));
  const changes = sectionOf(read('CHANGELOG.md'), version);
  return [
    [tag !== `v${version}`, `the tag is ${tag}, and the version ${version}`],
    [!changes, `CHANGELOG.md has no text below a heading "## ${version} - <date>"`],
    [!existsSync(join(root, `test/golden/${version}.json`)), 'test/golden/make.mjs has not been run for this version'],
    [major !== wantedMajor, `sdk/go/go.mod must end with /v${wantedMajor}, as Go demands from version 2 on`],
    [repository.toLowerCase() !== owner.toLowerCase(), `sdk/go/go.mod is of ${owner}, and this is ${repository}`],
    [
      !manifest.repository.url.toLowerCase().endsWith(`github.com/${repository.toLowerCase()}.git`),
      `sdk/typescript/package.json names another repository than ${repository}; npm checks that for its provenance`,
    ],
  ].flatMap(([isFault, text]) => (isFault ? [text] : []));
}

function check() {
  const { version } = JSON.parse(read('package.json'));
  const faults = [
    ...(VERSION.test(version) ? [] : [`${version} is not a version such as 1.2.3 or 1.2.3-rc.1`]),
    ...faultsOf(placesOf(root, version)),
    ...(hasUnreleased(read('CHANGELOG.md')) ? [] : ['CHANGELOG.md must begin with the heading "## Unreleased"']),
    ...(values.tag === undefined ? [] : faultsOfRelease(version, values.tag)),
  ];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length === 0) process.stdout.write(`${version}\n`);
  return faults.length === 0 ? 0 : 1;
}

function set(version) {
  if (version === undefined || !VERSION.test(version)) {
    process.stderr.write('which version? Write, for example: set 1.2.3, or set 1.2.3-rc.1\n');
    return 2;
  }
  const places = placesOf(root, version);
  const missing = faultsOf(places).filter((fault) => / has \d+ versions /.test(fault));
  for (const fault of missing) process.stderr.write(`${fault}\n`);
  if (missing.length > 0) return 1;
  for (const file of writePlaces(root, places)) process.stdout.write(`${file}\n`);
  const date = values.date ?? new Date().toISOString().slice(0, 10);
  writeFileSync(join(root, 'CHANGELOG.md'), release(read('CHANGELOG.md'), version, date));
  return 0;
}

function notes() {
  process.stdout.write(`${sectionOf(read('CHANGELOG.md'), JSON.parse(read('package.json')).version) ?? ''}\n`);
  return 0;
}

const verbs = { check, set, notes };
if (!Object.hasOwn(verbs, verb ?? '')) {
  process.stderr.write('write check, set or notes; the first lines of this file explain them\n');
  process.exitCode = 2;
} else {
  process.exitCode = verbs[verb](given);
}
