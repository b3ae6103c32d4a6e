import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { during } from '../support/during.js';

const RIVAL = fileURLToPath(new URL('rival.mjs', import.meta.url));
const FOLDERS = 150;
/** An id of no process, above the highest that the kernel assigns. */
const GONE = 2 ** 30;

const race = during(
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'yardmaster-rivals-'));
    const rivals = [1, 2, 3, 4].map(() => fork(RIVAL, { execArgv: [] }));
    await Promise.all(rivals.map((rival) => once(rival, 'message')));
    return { root, rivals };
  },
  async ({ root, rivals }) => {
    for (const rival of rivals) rival.disconnect();
    await rm(root, { recursive: true, force: true });
  },
);

/** Count the processes that get a folder which all of them claim concurrently. */
async function winnersOf(folder: string): Promise<number> {
  const has = (rival: ChildProcess) => once(rival, 'message') as Promise<[{ has: boolean }]>;
  const responses = race.rivals.map(has);
  for (const rival of race.rivals) rival.send(folder);
  return (await Promise.all(responses)).filter(([response]) => response.has).length;
}

// Many times, because a race between two processes happens only sometimes.
it.each<[what: string, pids: (number | null)[]]>([
  ['never had an owner', []],
  ['has an owner that crashed', [GONE]],
  ['was released', [null]],
  ['has two owners that crashed, the second one during its cleanup', [GONE, GONE]],
])('exactly one of several concurrent processes gets a data folder that %s', async (_, pids) => {
  for (let i = 0; i < FOLDERS; i++) {
    const folder = await mkdtemp(join(race.root, 'folder-'));
    for (const [n, pid] of pids.entries())
      await writeFile(join(folder, `owner-${n + 1}.json`), JSON.stringify({ pid }));
    expect(await winnersOf(folder)).toBe(1);
  }
});
