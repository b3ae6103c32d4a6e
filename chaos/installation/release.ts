import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const APPS = ['api', 'gateway', 'scheduler'].map((name) => `apps/${name}`);
const ARCHIVE_BYTES = 100_000_000; // At most.

/** Compiled apps of another release. */
export interface Release {
  root: string; // Its folder, which has the structure of the repository.
  remove(): Promise<void>;
}

/** Copy this release with other texts of its Lua scripts, so that Redis knows them by other hashes. */
export async function makeOtherRelease(): Promise<Release> {
  const release = await copyRelease('release');
  const scripts = join(release.root, 'packages/store/dist/script/scripts.generated.js');
  await writeFile(scripts, `${await readFile(scripts, 'utf8')}\n${OTHER_TEXTS}`);
  return release;
}

/**
 * The commit of the older release. By default the last one before Redis had a format, time-outs of deliveries were counted and
 * callbacks were signed by space.
 */
const OLDER = process.env.FAULT_OLDER || 'bd56be8754b753da6a8bc4c1aeba2f2451df9013';

/** Build an older release from the history of the repository, with the installed modules of this one. */
export async function makeOlderRelease(): Promise<Release> {
  const root = await newFolder('older');
  const archive = execFileSync('git', ['archive', OLDER, 'tsconfig.base.json', 'packages', ...APPS], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES,
  });
  execFileSync('tar', ['x', '-C', root], { input: archive });
  await linkModules(root);
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', ...APPS], { cwd: root });
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Copy this release into .cache, where Node finds the same modules. @param parts more folders, e.g. `src` */
export async function copyRelease(name: string, parts: readonly string[] = []): Promise<Release> {
  const root = await newFolder(name);
  for (const folder of await foldersOf(ROOT)) {
    for (const part of ['package.json', 'dist', ...parts])
      await cp(join(ROOT, folder, part), join(root, folder, part), { recursive: true }).catch(ignoreAbsent);
  }
  await linkModules(root);
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** List the folders that the apps of a release need: the apps, and all packages, whose names differ between releases. */
const foldersOf = async (root: string) => [
  ...(await readdir(join(root, 'packages'))).map((name) => `packages/${name}`),
  ...APPS,
];

async function newFolder(name: string): Promise<string> {
  const root = join(ROOT, '.cache', 'faults', `${name}-${process.pid}`);
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  return root;
}

/** Link the packages of a release with each other and with the installed modules. */
async function linkModules(root: string): Promise<void> {
  for (const folder of await foldersOf(root)) {
    const modules = join(folder, 'node_modules');
    await cp(join(ROOT, modules), join(root, modules), { recursive: true }).catch(ignoreAbsent);
    const link = join(root, 'node_modules', '@yardmaster', folder.replace(/.*\//, ''));
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, folder), link);
  }
}

/** Not every package has modules of its own. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Code that gives each script another text. */
const OTHER_TEXTS = `
import { createHash } from 'node:crypto';
import * as all from './scripts.generated.js';
for (const script of Object.values(all)) {
  if (typeof script.text !== 'string') continue;
  script.text += '\\n-- of another release';
  script.sha1 = createHash('sha1').update(script.text).digest('hex');
}
`;
