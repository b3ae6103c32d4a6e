import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const APPS = ['api', 'gateway', 'scheduler'].map((name) => `apps/${name}`);

/** Compiled apps of another release. */
export interface Release {
  root: string; // Folder with the structure of the repository.
  remove(): Promise<void>;
}

/** Copy this release with changed Lua scripts, so that their hashes differ. */
export async function makeOtherRelease(): Promise<Release> {
  const release = await copyRelease('release');
  const scripts = join(release.root, 'packages/store/dist/script/scripts.generated.js');
  await writeFile(scripts, `${await readFile(scripts, 'utf8')}\n${OTHER_TEXTS}`);
  return release;
}

/** Copy this release into .cache, where Node.js finds the same modules. @param parts additional folders, such as `src` */
export async function copyRelease(name: string, parts: readonly string[] = []): Promise<Release> {
  const root = await newFolder(name);
  for (const folder of await foldersOf(ROOT)) {
    for (const part of ['package.json', 'dist', ...parts])
      await cp(join(ROOT, folder, part), join(root, folder, part), { recursive: true }).catch(ignoreAbsent);
  }
  await linkModules(root);
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** List the folders that the apps of a release need. */
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

/** Ignore a missing folder, because not every package has its own modules. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Code that changes the text of each script. */
const OTHER_TEXTS = `
import * as all from './scripts.generated.js';
for (const script of Object.values(all)) {
  if (typeof script.text === 'string') script.text += '\\n-- of another release';
}
`;
