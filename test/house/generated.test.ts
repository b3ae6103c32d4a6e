import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('the generated scripts equal the .lua files', () => {
  expect(() => execFileSync(process.execPath, [`${root}scripts/lua/module.mjs`, '--check'])).not.toThrow();
});

const files = ['packages/store/src', 'packages/fsck/src'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => `${folder}/${file}`),
);

it.each(files)('%s parses no JSON, has fewer than 60 lines, and declares its inputs and replies', (file) => {
  const text = readFileSync(root + file, 'utf8');
  expect(text).not.toMatch(/cjson|cmsgpack|^#!/m);
  expect(text.split('\n').length).toBeLessThan(60);
  if (file.includes('/lua/')) return;
  expect(text).toMatch(/^-- KEYS .+\n-- ARGV .+\n(-- REPLY [A-Z_]+.*\n)+(-- ERRORS .+\n)?(-- WITH .+\n)?--\n-- [A-Z]/);
});

it('the topology excludes only existing tests', async () => {
  const { EXCLUDED } = await import(`${root}test/topology/excluded.mjs`);
  expect(EXCLUDED.filter((file: string) => !existsSync(`${root}test/${file}.test.ts`))).toEqual([]);
});
