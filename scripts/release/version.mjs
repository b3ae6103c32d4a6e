// node scripts/release/version.mjs: check that all parts of a release have the version in package.json, that the changelog has
// its headings, and that Go accepts the module name. release-please writes the versions.
import { readFileSync } from 'node:fs';

const read = (file) => readFileSync(file, 'utf8');
const json = (file) => JSON.parse(read(file));

const { version } = json('package.json');
const { packages } = json('package-lock.json');
const workspaces = Object.keys(packages).filter((path) => !path.includes('node_modules/'));
const { 'extra-files': places } = json('release-please-config.json').packages['.'];
const marked = places.filter(({ type }) => type === 'generic').map(({ path }) => path);

const headings = read('CHANGELOG.md').match(/^## .*$/gm) ?? [];
const isReleased = json('.release-please-manifest.json')['.'] === version;
const major = Number.parseInt(version, 10);

const faults = [
  ...workspaces.flatMap((folder) => [
    [json(`./${folder}/package.json`).version === version, `${folder}/package.json has another version`],
    [packages[folder].version === version, `package-lock.json has another version of ${folder || 'the root'}`],
  ]),
  ...marked.flatMap((file) => {
    const lines = read(file).match(/^.*x-release-please-version.*$/gm) ?? [''];
    return lines.map((line) => [/\d+\.\d+\.\d+[-\w.]*/.exec(line)?.[0] === version, `${file} has another version`]);
  }),
  [headings[0] === '## Unreleased', 'CHANGELOG.md must begin with the heading "## Unreleased"'],
  [
    !isReleased || headings.some((each) => each.startsWith(`## ${version} - `)),
    `CHANGELOG.md has no heading "## ${version} - <date>"`,
  ],
  [major < 2 || read('sdk/go/go.mod').includes(`/sdk/go/v${major}\n`), `sdk/go/go.mod must end with /v${major}`],
].flatMap(([isRight, fault]) => (isRight ? [] : [fault]));

for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
