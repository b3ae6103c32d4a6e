import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Find a program like the shell does, and also in /usr/sbin, which is not always on the PATH.
 *
 * @throws a sentence that names the package to install
 */
export function installed(program: string, debianPackage: string): string {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error(`These tests need ${program}: apt-get install --no-install-recommends ${debianPackage}`);
}
