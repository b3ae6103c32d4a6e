import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGES = ['protocol', 'store', 'runtime', 'backend'].map((name) => `packages/${name}`);
const APPS = ['api', 'gateway', 'scheduler'].map((name) => `apps/${name}`);
/** Where the Lua of all scripts is, once compiled. A part that several scripts share stands in each. */
export const SCRIPTS = 'packages/store/dist/scripts.generated.js';

/** Compiled apps of another release than this one. */
export interface Release {
  /** Its folder, as that of the repository. */
  root: string;
  remove(): Promise<void>;
}

/** Make a release whose Lua scripts do the same and have another text, so that Redis knows them by other hashes. */
export async function makeOtherRelease(): Promise<Release> {
  const release = await copyRelease('release');
  const scripts = join(release.root, SCRIPTS);
  await writeFile(scripts, `${await readFile(scripts, 'utf8')}\n${OTHER_TEXTS}`);
  return release;
}

/** Copy this one. It lies within the repository, where what others have published is found as ever. */
export async function copyRelease(name: string): Promise<Release> {
  const root = join(ROOT, '.cache', 'faults', `${name}-${process.pid}`);
  await rm(root, { recursive: true, force: true });
  for (const folder of [...PACKAGES, ...APPS]) {
    for (const part of ['package.json', 'dist', 'node_modules'])
      await cp(join(ROOT, folder, part), join(root, folder, part), { recursive: true }).catch(ignoreAbsent);
    const link = join(root, 'node_modules', '@yardmaster', folder.replace(/.*\//, ''));
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, folder), link);
  }
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Not every package has modules of its own. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Code behind the scripts that gives each another text. */
const OTHER_TEXTS = `
import { createHash } from 'node:crypto';
import * as all from './scripts.generated.js';
for (const script of Object.values(all)) {
  if (typeof script.text !== 'string') continue;
  script.text += '\\n-- of another release';
  script.sha1 = createHash('sha1').update(script.text).digest('hex');
}
`;
