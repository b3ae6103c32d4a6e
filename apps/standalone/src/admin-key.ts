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
 * Return the admin key of a data folder. It is generated at the first start and then kept, readable only by this user. If
 * the operator wrote a key there that is too short for an ADMIN_API_KEY, it is replaced, because it could be guessed.
 *
 * @param print prints a sentence for the operator
 * @returns the key in plain text, and its file
 * @throws Error that mentions DATA_DIR and ADMIN_API_KEY if the key cannot be stored
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
      `The admin key in ${file} has fewer than ${ADMIN_KEY_LENGTH} characters, so a new one replaces it. Clients need the new one.`,
    );
  }
  const newKey = `ym_admin_${randomBytes(32).toString('hex')}`;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    // Write the whole file or nothing: a full disk must not leave an empty key behind.
    await writeFile(`${file}.new`, `${newKey}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    throw new Error(
      `The admin key could not be stored (${(error as Error).message}). Set DATA_DIR to a writable folder, or set ADMIN_API_KEY.`,
    );
  }
  return { key: newKey, file };
}
