import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Return the paths of the files of a folder of the release with an end of their names. */
export const filesOf = (folder, name, end = '') =>
  readdirSync(join(folder, name))
    .filter((file) => file.endsWith(end))
    .sort()
    .map((file) => join(folder, name, file));

/** Return the path of the only such file. @throws when there is none, or more than one */
export function onlyFile(folder, name, end) {
  const files = filesOf(folder, name, end);
  if (files.length !== 1) throw new Error(`${join(folder, name)} has ${files.length} files …${end} instead of one`);
  return files[0];
}
