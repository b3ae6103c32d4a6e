import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inParallel } from './in-parallel.mjs';

/**
 * Find every regular file below a folder. Symbolic links are ignored.
 *
 * @returns `files`: sorted `{ path, size }`, where the path begins with the folder, as for `sha256sum`; `unreadable`: a
 *   sentence for each folder that could not be read
 */
export async function findFiles(folder) {
  const found = { files: [], unreadable: [] };
  await addFolder(folder, found);
  found.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return found;
}

async function addFolder(folder, found) {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    found.unreadable.push(error.message);
    return [];
  });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name));
  await inParallel(paths, 32, async (path) => found.files.push({ path, size: await sizeOf(path) }));
  for (const entry of entries) if (entry.isDirectory()) await addFolder(join(folder, entry.name), found);
}

/**
 * The size only decides the job type. A file whose size cannot be read gets a job too, and its failure shows the
 * reason.
 */
const sizeOf = (path) =>
  lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
