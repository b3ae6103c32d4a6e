import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './dockerfile.js';

/** Download node of a major release from the registry into .cache/node, once. @returns its path */
export function nodeBinary(major: string): string {
  const kept = join(ROOT, '.cache/node', major);
  if (existsSync(kept)) return kept;
  const dir = mkdtempSync(join(tmpdir(), 'yardmaster-node-'));
  try {
    const name = `node-${process.platform}-${process.arch}@${major}`;
    const packed = spawnSync('npm', ['pack', '--silent', name], { cwd: dir, encoding: 'utf8' });
    if (packed.status !== 0) throw new Error(`npm pack ${name}: ${packed.stderr}`);
    spawnSync('tar', ['xzf', packed.stdout.trim(), 'package/bin/node'], { cwd: dir });
    mkdirSync(join(kept, '..'), { recursive: true });
    copyFileSync(join(dir, 'package/bin/node'), `${kept}.new`);
    chmodSync(`${kept}.new`, 0o755);
    renameSync(`${kept}.new`, kept);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return kept;
}
