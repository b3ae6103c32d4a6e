import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ADMIN_KEY_LENGTH } from '@yardmaster/runtime';

async function readIfThere(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Return the admin key of a data folder. It is made at the first start, stays the same, and only this user can read it.
 * A key that an operator wrote there and that is shorter than an ADMIN_API_KEY must be is replaced, because it could be
 * guessed.
 *
 * @param print gets a sentence for the operator
 * @returns the key in plain text, and its file
 * @throws Error that names DATA_DIR and ADMIN_API_KEY when the key cannot be stored
 */
export async function adminKeyOf(
  dataDir: string,
  print: (text: string) => void,
): Promise<{ key: string; file: string }> {
  const file = resolve(join(dataDir, 'admin-key'));
  const key = await readIfThere(file);
  if (key.length >= ADMIN_KEY_LENGTH) return { key, file };
  if (key !== '') {
    print(
      `The admin key in ${file} has fewer than ${ADMIN_KEY_LENGTH} characters. A new one replaces it; clients need the new one.`,
    );
  }
  const newKey = `ym_admin_${randomBytes(32).toString('hex')}`;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    // Write the whole file or nothing, because a full disk must not leave an empty key forever.
    await writeFile(`${file}.new`, `${newKey}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    throw new Error(
      `No admin key could be stored (${(error as Error).message}): set DATA_DIR to a folder that can be written, or ADMIN_API_KEY to a key of your own.`,
    );
  }
  return { key: newKey, file };
}
