import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { EXIT, EXIT_MEANINGS, FSCK_EXIT, FSCK_EXIT_MEANINGS } from '@yardmaster/cli';
import { FAULTS } from '@yardmaster/store';

const docs = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');

it.each([
  ['## Exit codes of watch and logs', EXIT, EXIT_MEANINGS],
  ['### Exit codes of fsck', FSCK_EXIT, FSCK_EXIT_MEANINGS],
])('lists every exit code with its meaning in docs/cli.md, and no others: %s', (title, codes, meanings) => {
  const [section = ''] = docs.split(`\n${title}\n`)[1]?.split(/^#/m) ?? [];
  const rows = [...section.matchAll(/^\| (\d+) \| (.+?) \|$/gm)].map(([, code, meaning]) => [Number(code), meaning]);
  const all = meanings as Record<string, string>;
  expect(rows).toEqual(Object.entries(codes).map(([name, code]) => [code, all[name]]));
});

it('lists every kind of fault in docs/cli.md with what a repair does, and no others', () => {
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \|$/gm)].filter(([, name]) =>
    /^[a-z]/.test(name as string),
  );
  expect(rows.map(([, kind, meaning, repair]) => [kind, meaning, repair])).toEqual(
    Object.entries(FAULTS).map(([kind, { meaning, repair }]) => [kind, meaning, repair ?? 'left as it is']),
  );
});
