import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { endAll, type ProcessRun, runCommand } from '../cli/yardmaster.js';
import { installed } from '../support/installed.js';
import { ADMIN_KEY, withService } from '../support/service.js';
import { until } from '../support/until.js';

// Type every block of docs/migrate-emit.md into a new bash.

const root = fileURLToPath(new URL('../../', import.meta.url));
const service = withService({ COMPAT: 'emit' }, { isOwn: true });

let dir: string;
beforeAll(async () => {
  installed('curl', 'curl');
  dir = await mkdtemp(join(tmpdir(), 'migrate-'));
  await writeFile(join(dir, 'admin-key'), ADMIN_KEY);
});
afterAll(() => rm(dir, { recursive: true }));
afterAll(endAll);

/** Return the shell blocks of the page, each with the lines of JSON that it shows before the next one. */
async function blocksOfPage(): Promise<{ block: string; lines: string[] }[]> {
  const [, ...parts] = (await readFile(`${root}docs/migrate-emit.md`, 'utf8')).split(/^```sh\n/m);
  return parts.map((part) => {
    const [block = ''] = part.split(/^```$/m, 1);
    const shown = /^```json\n(.*?)^```$/ms.exec(part.slice(block.length))?.[1] ?? '';
    return { block, lines: shown.split('\n').filter((line) => line !== '') };
  });
}

/** Write a block for this service and a folder of the test. */
const here = (block: string) =>
  block
    .replaceAll('.data/', `${dir}/`)
    .replaceAll('127.0.0.1:8080', service.url.replace('http://', ''))
    .replaceAll('npx wscat', `node ${root}node_modules/wscat/bin/wscat`);

/** Convert a value on the page to an expectation in which `…` matches any text. */
function expected(value: unknown): unknown {
  if (typeof value === 'string') {
    const parts = here(value)
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return parts.length === 1 ? here(value) : expect.stringMatching(new RegExp(`^${parts.join('.+')}$`));
  }
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expected(member)]));
}

const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line));
const linesOf = (run: ProcessRun) => run.out().split('\n').slice(0, -1);

it('docs/migrate-emit.md shows the requests of emit.run clients and the responses that they get', async () => {
  const [start, ...blocks] = await blocksOfPage();
  expect(start?.block).toBe('COMPAT=emit npm start\n');
  expect(blocks.filter(({ lines }) => lines.length > 0).length).toBeGreaterThan(5);

  let watch: { run: ProcessRun; lines: string[] } | undefined;
  for (const { block, lines } of blocks) {
    const run = runCommand('bash', ['--norc', '-c', here(block)], { HOME: dir });
    if (block.includes('wscat')) {
      watch = { run, lines };
      await run.shows('connected');
      continue;
    }
    const code = await run.exit();
    expect({ block, code, shown: parsed(linesOf(run)) }).toEqual({ block, code: 0, shown: expected(parsed(lines)) });
  }
  const { run, lines } = watch as NonNullable<typeof watch>;
  await until(() => linesOf(run).length >= lines.length);
  expect(parsed(linesOf(run))).toEqual(expected(parsed(lines)));
});
