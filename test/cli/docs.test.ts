import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { EXIT, EXIT_MEANINGS } from '@yardmaster/cli';

it('lists every exit code with its meaning in docs/cli.md, and no others', () => {
  const docs = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  const rows = [...docs.matchAll(/^\| (\d+) \| (.+?) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  expect(rows).toEqual(names.map((name) => [EXIT[name], EXIT_MEANINGS[name]]));
});
