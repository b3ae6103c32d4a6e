import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Write a file atomically, because other processes may read it, unless it already has this content. */
export function replaceFile(path, contents, draftFolder = dirname(path)) {
  try {
    if (readFileSync(path).equals(contents)) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true }); // The folder is new.
  }
  const draft = join(draftFolder, `${basename(path)}.${process.pid}`);
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
