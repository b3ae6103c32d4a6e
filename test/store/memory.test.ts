import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../../bench/memory.mjs', import.meta.url));

it('takes at most 1 300 bytes per pending and per completed job, all keys counted', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--jobs', '5000', '--json']);
  const { pendingBytes, completedBytes } = JSON.parse(stdout);
  // Below this the script measured something else than jobs: the payload alone is 200 bytes.
  expect(pendingBytes).toBeGreaterThan(500);
  expect(pendingBytes).toBeLessThanOrEqual(1_300);
  expect(completedBytes).toBeGreaterThan(500);
  expect(completedBytes).toBeLessThanOrEqual(1_300);
});
