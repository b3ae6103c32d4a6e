import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADMIN_KEY_LENGTH } from '@yardmaster/runtime';

async function readKept(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Return the admin key of a data folder. It is made at the first start, stays the same, and only this user can read it.
 * A key that an operator wrote there and that is shorter than ADMIN_API_KEY may be is replaced, because it could be
 * guessed.
 *
 * @param say takes a line for the person at the terminal
 * @returns the key in plain text, to be printed
 */
export async function adminKeyOf(dataDir: string, say: (text: string) => void): Promise<string> {
  const file = join(dataDir, 'admin-key');
  const kept = await readKept(file);
  if (kept.length >= ADMIN_KEY_LENGTH) return kept;
  if (kept !== '') {
    say(
      `The admin key in ${file} has fewer than ${ADMIN_KEY_LENGTH} characters. A new one replaces it; clients need the new one.`,
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const key = `ym_admin_${randomBytes(32).toString('hex')}`;
  // Whole or not at all, because a disk that is full now must not leave an empty key for ever.
  await writeFile(`${file}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return key;
}
