// All places of the repository that contain its version.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Write a version as Python does: 1.2.3-rc.1 is 1.2.3rc1 there (PEP 440). */
export const pythonVersion = (version) =>
  version.replace(/-(alpha|beta|rc)\.(\d+)$/, (_, kind, number) => `${kind === 'rc' ? 'rc' : kind[0]}${number}`);

/**
 * Patterns by file. The group of each match is the version, in the form of that language. `times` says how often it
 * matches, so that a place that moves is not forgotten.
 */
const TEXTS = [
  { file: 'Dockerfile', pattern: /^ARG VERSION=(\S+)$/gm, times: 1 },
  { file: 'docker-compose.yml', pattern: /image: \S+\/yardmaster:(\S+)$/gm, times: 2 },
  { file: 'helm/yardmaster/Chart.yaml', pattern: /^(?:version|appVersion): (\S+)$/gm, times: 2 },
  { file: 'sdk/python/pyproject.toml', pattern: /^version = "(.+)"$/gm, times: 1, write: pythonVersion },
  {
    file: 'sdk/python/src/yardmaster/__init__.py',
    pattern: /^__version__ = "(.+)"$/gm,
    times: 1,
    write: pythonVersion,
  },
  { file: 'sdk/go/client.go', pattern: /^const Version = "(.+)"$/gm, times: 1 },
  { file: 'README.md', pattern: /^Version (\S+) is /gm, times: 1 },
  { file: 'docs/cli.md', pattern: /\/yardmaster-(\S+)\.tgz/g, times: 1 },
];

/** In a package.json: its own version, and those of the workspaces that it needs. */
const IN_MANIFEST = /^ {2}"version": "(.+)"|^ {4}"@yardmaster\/.+": "(\d.*)"/gm;

/** Folders of the npm workspaces, and of the repository itself. */
const workspaces = (root) => [
  '.',
  ...['packages', 'apps'].flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)),
  'sdk/typescript',
];

/** Replace each version that a pattern finds. @returns the versions that were there */
function replaceAll(text, pattern, version) {
  const found = [];
  const replaced = text.replace(pattern, (match, ...groups) => {
    const old = groups.slice(0, -2).find((group) => group !== undefined);
    found.push(old);
    return match.replace(old, () => version);
  });
  return { found, replaced };
}

/** Replace the versions of the workspaces in package-lock.json, which npm writes as JSON.stringify does. */
function replaceInLock(text, folders, version) {
  const lock = JSON.parse(text);
  const found = [lock.version];
  lock.version = version;
  for (const folder of folders) {
    const entry = lock.packages[folder === '.' ? '' : folder];
    found.push(entry.version);
    entry.version = version;
    for (const name of Object.keys(entry.dependencies ?? {}).filter((each) => each.startsWith('@yardmaster/'))) {
      found.push(entry.dependencies[name]);
      entry.dependencies[name] = version;
    }
  }
  return { found, replaced: `${JSON.stringify(lock, null, 2)}\n` };
}

/**
 * Find the version in all places.
 *
 * @returns for each file what it should contain, the versions that it contains, its text with the new version, and how
 * many versions it must contain (undefined: at least one)
 */
export function placesOf(root, version) {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const folders = workspaces(root);
  return [
    ...folders.map((folder) => {
      const file = join(folder, 'package.json');
      return { file, wanted: version, ...replaceAll(read(file), IN_MANIFEST, version) };
    }),
    { file: 'package-lock.json', wanted: version, ...replaceInLock(read('package-lock.json'), folders, version) },
    ...TEXTS.map(({ file, pattern, times, write = (same) => same }) => {
      const wanted = write(version);
      return { file, wanted, times, ...replaceAll(read(file), pattern, wanted) };
    }),
  ];
}

/** Describe each file that does not contain the version as often as it should, in a sentence. */
export const faultsOf = (places) =>
  places.flatMap(({ file, wanted, found, times = Math.max(1, found.length) }) => {
    const others = found.filter((each) => each !== wanted);
    if (found.length !== times) return `${file} has ${found.length} versions instead of ${times}`;
    return others.length === 0 ? [] : `${file} has ${[...new Set(others)].join(', ')} instead of ${wanted}`;
  });

/** Write the version into all places. @returns the files that changed */
export function writePlaces(root, places) {
  const changed = places.filter(({ file, replaced }) => replaced !== readFileSync(join(root, file), 'utf8'));
  for (const { file, replaced } of changed) writeFileSync(join(root, file), replaced);
  return changed.map(({ file }) => file);
}
