import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

async function readKept(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * The admin key of a data folder: made at the first start, the same ever after, readable by this user only.
 *
 * @returns the key in plain text, to be printed
 */
export async function adminKeyOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'admin-key');
  const kept = await readKept(file);
  if (kept !== '') return kept;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const key = `ym_admin_${randomBytes(32).toString('hex')}`;
  // Whole or not at all: a disk that is full now must not leave an empty key for ever.
  await writeFile(`${file}.new`, `${key}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return key;
}
