import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const lua = `${root}packages/store/lua/`;

it('ships the scripts as they are in the .lua files', () => {
  expect(() => execFileSync(process.execPath, [`${root}scripts/lua-module.mjs`, '--check'])).not.toThrow();
});

const files = readdirSync(lua, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));

it.each(files)('%s looks into no JSON and says what it takes and gives', (file) => {
  const text = readFileSync(lua + file, 'utf8');
  expect(text).not.toMatch(/cjson|cmsgpack|^#!/m);
  expect(text.split('\n').length).toBeLessThan(60);
  if (!file.startsWith('shared/'))
    expect(text).toMatch(/^-- KEYS .+\n-- ARGV .+\n--\n-- [A-Z][\s\S]*-- Returns \{'(OK|TOO_LATE)'/);
});
