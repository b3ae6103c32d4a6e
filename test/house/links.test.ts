import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));

const FOLDERS = ['docs', 'chaos', 'examples', 'helm', 'test'];

const pages = [
  ...readdirSync(root),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
].filter((file) => file.endsWith('.md') && !file.includes('node_modules'));

/** Remove code, which may look like links or headings. */
const proseOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/^```.*?^```$/gms, '');

/** Anchors that GitHub makes of the headings of a page. */
const anchorsOf = (file: string) =>
  [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/\]\(.*?\)/g, '')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

it.each(pages)('%s contains no merge conflict', (page) => {
  expect(readFileSync(join(root, page), 'utf8')).not.toMatch(/^(<{7}|>{7}) /m);
});

it.each(pages)('%s links only to existing files and headings', (page) => {
  const links = [...proseOf(join(root, page)).matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(
    ([, link]) => link as string,
  );
  const broken = links.filter((link) => {
    const [path, anchor] = link.split('#') as [string, string?];
    const file = path === '' ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !(statSync(file).isFile() && anchorsOf(file).includes(anchor));
  });
  expect(broken).toEqual([]);
});

it('docs/index.md lists every page of docs/', () => {
  const index = readFileSync(join(root, 'docs/index.md'), 'utf8');
  const files = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'index.md');
  expect(files.filter((file) => !index.includes(`](${relative('.', file)})`))).toEqual([]);
});
