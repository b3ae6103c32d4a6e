import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const RIVAL = fileURLToPath(new URL('rival.mjs', import.meta.url));
const FOLDERS = 150;
/** No process has it: above the highest number the kernel gives. */
const GONE = 2 ** 30;

let root: string;
let rivals: ChildProcess[];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'yardmaster-rivals-'));
  rivals = [1, 2, 3, 4].map(() => fork(RIVAL, { execArgv: [] }));
  await Promise.all(rivals.map((rival) => once(rival, 'message')));
});

afterAll(async () => {
  for (const rival of rivals) rival.disconnect();
  await rm(root, { recursive: true, force: true });
});

async function race(folder: string): Promise<number> {
  const answers = rivals.map((rival) => once(rival, 'message') as Promise<[{ has: boolean }]>);
  for (const rival of rivals) rival.send(folder);
  return (await Promise.all(answers)).filter(([{ has }]) => has).length;
}

// Many times, since rivals meet at the same step only now and then.
it.each([
  ['nobody has had', []],
  ['a crash left behind', [[1, { pid: GONE }]]],
  ['was given back', [[1, { pid: null }]]],
  [
    'two crashes left behind, the later one before it had cleared away',
    [
      [1, { pid: GONE }],
      [2, { pid: GONE }],
    ],
  ],
] as [string, [number, object][]][])(
  'gives a folder that %s to one of several at once',
  async (_, owners) => {
    const winners = [];
    for (let i = 0; i < FOLDERS; i++) {
      const folder = await mkdtemp(join(root, 'folder-'));
      for (const [number, owner] of owners) {
        await writeFile(join(folder, `owner-${number}.json`), JSON.stringify(owner));
      }
      winners.push(await race(folder));
    }
    expect(winners).toEqual(Array(FOLDERS).fill(1));
  },
  60_000,
);
