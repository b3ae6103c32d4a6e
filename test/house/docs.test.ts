import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { FEATURES } from '@yardmaster/api';
import { createJobRequest, ERRORS, jobWithEvents, knownFieldsOf, TRANSITIONS } from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';
import { ENDPOINTS } from '../api/endpoints.js';

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(pathOf(path), 'utf8');

/** Return the words in code of the first column of the first table after a heading of the API reference. */
function firstColumn(heading: string): string[] {
  const [, rows = ''] =
    new RegExp(`^${heading}\n[^]*?^\\|[-|]+\\|\n((?:\\|.*\n)+)`, 'm').exec(read('docs/api.md')) ?? [];
  const cells = [...rows.matchAll(/^\| (.+?) \|/gm)].map(([, cell]) => cell as string);
  return cells.flatMap((cell) => [...cell.matchAll(/`(.+?)`/g)].map(([, word]) => word as string)).sort();
}

it('docs/configuration.md shows exactly the existing variables with their default and meaning', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+?) \|$/gm)];
  expect(rows.map(([, name, byDefault, meaning]) => [name, byDefault, meaning]).sort()).toEqual(
    Object.entries(VARIABLES)
      .map(([name, { default: byDefault, meaning }]) => [
        name,
        byDefault === null ? 'none' : `\`${byDefault}\``,
        meaning,
      ])
      .sort(),
  );
});

it('the README shows the worker of examples/worker.mjs', () => {
  const [, shown] = /^```js\n(.*?)^```$/ms.exec(read('README.md')) ?? [];
  expect(read('examples/worker.mjs').replace(/^\/\/ .*\n/, '')).toBe(shown);
});

it('docs/workers.md shows the workers of examples/', () => {
  const [, ...shown] = [...read('docs/workers.md').matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code); // The first is of the SDK.
  const files = ['worker-loop', 'worker-turn'].map((name) => read(`examples/${name}.mjs`).replace(/^\/\/ .*\n/, ''));
  expect(shown).toEqual(files);
});

it('the README quotes only figures that the linked page contains', () => {
  const [, promises = ''] = /^## What you may rely on\n(.*?)^## /ms.exec(read('README.md')) ?? [];
  const rows = [...promises.matchAll(/^\| \[.+?\]\((docs\/\w+\.md)#.+?\) \| (.+) \|$/gm)];
  expect(rows).toHaveLength(7);
  for (const [, page, seen] of rows) {
    const figures = (seen as string).match(/\d[\d .]*\d/g) ?? [];
    expect(figures.length).toBeGreaterThan(0);
    const text = read(page as string);
    expect(figures.filter((figure) => !text.includes(figure))).toEqual([]);
  }
});

it('the API reference lists every endpoint with its scopes', () => {
  const rows = [...read('docs/api.md').matchAll(/^\| (GET|POST|PATCH|DELETE) \| `(.+?)` \| (.+?) \|/gm)];
  const documented = rows.map(([, method, path, scopes]) => `${method} ${path} ${scopes}`).sort();
  const served = ENDPOINTS.map(
    ({ method, path, scopes, also = [] }) =>
      `${method} /api/v1${path} ${[scopes.map((s) => `\`${s}\``).join(' or ') || 'any key', ...also.map((s) => `\`${s}\``)].join(' and ')}`,
  );
  expect(documented).toEqual(served.sort());
});

it('the README and the API reference link the OpenAPI document', () => {
  for (const page of ['README.md', 'docs/api.md']) expect(read(page)).toContain('/api/v1/openapi.json');
});

it('the API reference lists every feature', () => {
  expect(firstColumn('# API reference')).toEqual([...FEATURES].sort());
});

it('the API reference lists exactly the fields of create and of a job', () => {
  expect(firstColumn('### Create')).toEqual(
    [...(knownFieldsOf(createJobRequest) as Map<string, unknown>).keys()].sort(),
  );
  // Only clients of emit.run get the other field.
  const { realtimeUrl: _, ...fields } = jobWithEvents.shape;
  expect(firstColumn('## Job')).toEqual(Object.keys(fields).sort());
});

it('every table row in the docs has as many cells as the row above, and every heading a blank line', () => {
  const pages = ['README.md', 'CHANGELOG.md', ...readdirSync(pathOf('docs')).map((name) => `docs/${name}`)];
  const faults = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const lines = read(page)
        .replace(/^ *```.*?^ *```$/gms, '')
        .split('\n');
      const cells = (line: string) => line.match(/(?<!\\)\|/g)?.length;
      const isFaulty = (line: string, above: string) =>
        line.startsWith('#') ? above !== '' : line[0] === '|' && above[0] === '|' && cells(line) !== cells(above);
      return lines.filter((line, i) => isFaulty(line, lines[i - 1] ?? '')).map((line) => `${page}: ${line}`);
    });
  expect(faults).toEqual([]);
});

it('the API reference lists every error code with its status', () => {
  const rows = [...read('docs/api.md').matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \|/gm)];
  expect(rows.map(([, status, code]) => `${code} ${status}`).sort()).toEqual(
    Object.entries(ERRORS)
      .map(([code, { status }]) => `${code} ${status}`)
      .sort(),
  );
});

it('the API reference draws every transition', () => {
  const drawn = [...read('docs/api.md').matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, triggers]) =>
    // A comma may be in parentheses as well.
    (triggers as string).split(/, (?![^(]*\))/).map((trigger) => `${from} ${trigger} ${to}`),
  );
  const moves = TRANSITIONS.flatMap(({ trigger, when, from, to }) =>
    from.filter((status) => status !== to).map((status) => `${status} ${trigger}${when ? ` (${when})` : ''} ${to}`),
  );
  expect(drawn.sort()).toEqual(moves.sort());
});

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
