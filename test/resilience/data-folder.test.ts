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
/** No process has it: above the highest number the kernel gives. */
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

/** How many of the rivals get a folder that they ask for at once. */
async function winnersOf(folder: string): Promise<number> {
  const has = (rival: ChildProcess) => once(rival, 'message') as Promise<[{ has: boolean }]>;
  const responses = race.rivals.map(has);
  for (const rival of race.rivals) rival.send(folder);
  return (await Promise.all(responses)).filter(([response]) => response.has).length;
}

// Many times, since rivals meet at the same step only now and then.
it.each<[what: string, pids: (number | null)[]]>([
  ['has had no owner', []],
  ['a crash left behind', [GONE]],
  ['was given back', [null]],
  ['two crashes left behind, the later one before it had cleared away', [GONE, GONE]],
])('a data folder that %s goes to one of several processes that take it at once', async (_, pids) => {
  for (let i = 0; i < FOLDERS; i++) {
    const folder = await mkdtemp(join(race.root, 'folder-'));
    for (const [n, pid] of pids.entries())
      await writeFile(join(folder, `owner-${n + 1}.json`), JSON.stringify({ pid }));
    expect(await winnersOf(folder)).toBe(1);
  }
});
