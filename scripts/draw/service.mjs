import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../set-up.mjs';

/** Start the standalone on a free port with a new data folder, and return its URL, its admin key and what stops it. */
export async function startService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'yardmaster-draw-'));
  const env = { ...process.env, PORT: '0', DATA_DIR: dataDir, REDIS_URL: '', ADMIN_API_KEY: '' };
  const child = spawn(process.execPath, ['apps/standalone/dist/main.js'], { cwd: root, env });
  const url = await new Promise((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += text;
      const found = /"url":"(http:[^"]+)"/.exec(printed)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error('The service did not start')));
  });
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8').trim();
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(dataDir, { recursive: true });
  };
  return { url, key, stop };
}
