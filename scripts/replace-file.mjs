import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Write a file at once, because other processes may read it, unless it has this content already. */
export function replaceFile(path, contents, draftFolder = dirname(path)) {
  try {
    if (readFileSync(path).equals(contents)) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true }); // It is new.
  }
  const draft = join(draftFolder, `${basename(path)}.${process.pid}`);
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
