import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { ROOT } from './dockerfile.js';

/** The types declare a default export, but the module itself is the function. */
const dockerignore: () => Rules = createRequire(import.meta.url)('@balena/dockerignore');

interface Rules {
  add(patterns: string): Rules;
  ignores(path: string): boolean;
}

const patterns = readFileSync(`${ROOT}.dockerignore`, 'utf8');

/** Return whether .dockerignore excludes a path of the repository from the build. */
export const isIgnored = (path: string): boolean => dockerignore().add(patterns).ignores(path);

/** Folders with too many files to check each; tests check some of them. */
const NEVER = new Set(['node_modules', '.git', '.cache']);

/** List the files of the build context, relative to the repository. */
export function contextFiles(): string[] {
  const ignore = dockerignore().add(patterns);
  const files: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!NEVER.has(entry.name)) walk(path);
      } else if (!ignore.ignores(relative(ROOT, path))) {
        files.push(relative(ROOT, path));
      }
    }
  };
  walk(ROOT);
  return files;
}
