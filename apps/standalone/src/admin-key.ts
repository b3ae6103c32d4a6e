import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The admin key of a data folder: made at the first start, the same ever after, readable by this user only.
 *
 * @returns the key in plain text, to be printed
 */
export async function adminKeyOf(dataDir: string): Promise<string> {
  const file = join(dataDir, 'admin-key');
  const kept = await readFile(file, 'utf8').catch(() => null);
  if (kept !== null) return kept.trim();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const key = `ym_admin_${randomBytes(32).toString('hex')}`;
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'wx' });
  return key;
}
