import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { FEATURES } from '@yardmaster/api';
import { createJobRequest, ERRORS, jobWithEvents, knownFieldsOf, TRANSITIONS } from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';
import { ENDPOINTS } from '../api/endpoints.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(pathOf(path), 'utf8');

/** Return the words in code of the first column of the first table after a heading of a page. */
function firstColumn(page: string, heading: string): string[] {
  const [, rows = ''] = new RegExp(`^${heading}\n[^]*?^\\|[-|]+\\|\n((?:\\|.*\n)+)`, 'm').exec(read(page)) ?? [];
  const cells = [...rows.matchAll(/^\| (.+?) \|/gm)].map(([, cell]) => cell as string);
  return cells.flatMap((cell) => [...cell.matchAll(/`(.+?)`/g)].map(([, word]) => word as string)).sort();
}

const SOURCE = /\.(ts|tsx|lua|mjs|py|go)$/;

/** A file, as pages and comments name it: a source by its path or the end of its path, and any other by its whole path. */
const NAMED = new RegExp(
  [
    /(?<![\w/.:@-])(?:[\w.-]+\/)*[\w-]+\.(?:ts|tsx|lua|mjs|cjs|py|go)\b/,
    /(?<![\w/.:@-])(?:apps|packages|test|chaos|bench|scripts|sdk|docs|examples|helm)\/[\w./-]+\.\w+\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Files that a page tells the reader to create, and former scripts that decisions mention. */
const NAMED_ONLY = [
  ...['receiver.mjs', 'job-log.mjs', 'resize.py'],
  ...['create_many.lua', 'create_many_full.lua', 'create_full.lua', 'turn.lua', 'turn_many.lua'],
];

it('every file named by a page or a comment exists', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const paths = new Set([...NAMED_ONLY, ...files].flatMap((file) => ends(file.split('/'))));
  const proseOf = (file: string) => {
    if (file.endsWith('.md')) return [...read(file).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code as string);
    return SOURCE.test(file) ? (read(file).match(/(?<=^\s*(?:\/\/|\/?\*\*?|--|#) ).*/gm) ?? []) : [];
  };
  const missing = files.flatMap((file) =>
    proseOf(file).flatMap((text) =>
      (text.match(NAMED) ?? []).filter((named) => !paths.has(named)).map((named) => [file, named]),
    ),
  );
  expect(missing).toEqual([]);
});

/** Return every end of a path. */
const ends = (parts: string[]) => parts.map((_, i) => parts.slice(i).join('/'));

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

it('docs/write-a-client.md shows the workers of examples/', () => {
  const shown = [...read('docs/write-a-client.md').matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  const files = ['worker-loop', 'worker-turn'].map((name) => read(`examples/${name}.mjs`).replace(/^\/\/ .*\n/, ''));
  expect(shown).toEqual(files);
});

it('the README quotes only figures that the linked pages contain', () => {
  const figures = read('README.md').match(/\d\.\d+×|\d+\s+faults/g) ?? [];
  expect(figures).toHaveLength(3);
  const pages = ['docs/performance.md', 'docs/reliability.md'].map(read).join();
  expect(figures.filter((figure) => !pages.includes(figure.replace('\n', ' ')))).toEqual([]);
});

it('the API reference lists every endpoint with its scopes', () => {
  const rows = [...read('docs/api.md').matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `(.+?)` \| (.+?) \|/gm)];
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
  expect(firstColumn('docs/api/requests.md', '## Features')).toEqual([...FEATURES].sort());
});

it('the API reference lists exactly the fields of create and of a job', () => {
  expect(firstColumn('docs/api/create.md', '## Fields')).toEqual(
    [...(knownFieldsOf(createJobRequest) as Map<string, unknown>).keys()].sort(),
  );
  // Only clients of emit.run get the other field.
  const { realtimeUrl: _, ...fields } = jobWithEvents.shape;
  expect(firstColumn('docs/api/job.md', '## Fields')).toEqual(Object.keys(fields).sort());
});

it('docs/errors.md explains every error code under its own heading, with its status', () => {
  const sections = [...read('docs/errors.md').matchAll(/^### (\w+)\n\n\*\*(\d{3})/gm)];
  expect(sections.map(([, code, status]) => `${code} ${status}`).sort()).toEqual(
    Object.entries(ERRORS)
      .map(([code, { status }]) => `${code} ${status}`)
      .sort(),
  );
});

it('the API reference draws every transition', () => {
  const drawn = [...read('docs/api/job.md').matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(
    ([, from, to, triggers]) =>
      // A comma may be in parentheses as well.
      (triggers as string).split(/, (?![^(]*\))/).map((trigger) => `${from} ${trigger} ${to}`),
  );
  const moves = TRANSITIONS.flatMap(({ trigger, when, from, to }) =>
    from.filter((status) => status !== to).map((status) => `${status} ${trigger}${when ? ` (${when})` : ''} ${to}`),
  );
  expect(drawn.sort()).toEqual(moves.sort());
});

const pages = [
  ...readdirSync(root),
  ...['docs', 'chaos', 'examples', 'helm', 'test', 'scripts', 'sdk', 'apps', 'bench'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
].filter((file) => file.endsWith('.md') && !file.includes('node_modules'));

const markdown = new MarkdownIt({ html: true });

/** Parse a page as GitHub does: its blocks, and the parts of their lines. */
const tokensOf = (file: string) =>
  markdown.parse(readFileSync(file, 'utf8'), {}).flatMap((token) => [token, ...(token.children ?? [])]);

/** Anchors that GitHub makes of the headings of a page. */
function anchorsOf(file: string): string[] {
  const slugger = new GithubSlugger();
  const tokens = markdown.parse(readFileSync(file, 'utf8'), {});
  return tokens
    .filter((_, i) => tokens[i - 1]?.type === 'heading_open')
    .map(({ children }) => slugger.slug((children ?? []).map(({ content }) => content).join('')));
}

/** The line of the source that each heading and each table has once. */
const LINES = { heading_open: /^#{1,6} /, table_open: /^\|[ :|-]*-[ :|-]*\|$/ };

it.each(pages)('%s renders every heading, table and cell of its source, and no raw HTML', (page) => {
  const tokens = tokensOf(join(root, page));
  const lines = readFileSync(join(root, page), 'utf8')
    .replaceAll(/^( *)```.*?^\1```$/gms, '')
    .split('\n');
  for (const [type, line] of Object.entries(LINES)) {
    const sources = lines.filter((text) => line.test(text));
    expect([type, tokens.filter((token) => token.type === type).length]).toEqual([type, sources.length]);
  }
  const cells = (line = '') => (line.startsWith('|') ? line.match(/(?<!\\)\|/g)?.length : 0);
  expect(lines.filter((line, i) => cells(line) && cells(lines[i - 1]) && cells(line) !== cells(lines[i - 1]))).toEqual(
    [],
  );
  const html = tokens.filter(({ type }) => type === 'html_block').map(({ content }) => content);
  expect(html.filter((text) => !/^<(!--|p |\/?details|summary|img )/.test(text))).toEqual([]);
});

const linksOf = (page: string) =>
  tokensOf(join(root, page))
    .map((token) => token.attrGet('href') ?? token.attrGet('src'))
    .filter((link) => typeof link === 'string');

/** Where the pages of this repository are on the web. */
const REPOSITORY = 'https://github.com/yardmaster/yardmaster/blob/main/';

it.each(pages)('%s links only to existing files and headings', (page) => {
  const broken = linksOf(page).filter((link) => {
    const isOwn = link.startsWith(REPOSITORY);
    if (!isOwn && /^(https?|mailto):/.test(link)) return false;
    const [path, anchor] = (isOwn ? link.slice(REPOSITORY.length) : link).split('#') as [string, string?];
    const file = path === '' ? join(root, page) : join(root, isOwn ? '' : dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !(statSync(file).isFile() && anchorsOf(file).includes(anchor));
  });
  expect(broken).toEqual([]);
});

const PUBLISHED = ['sdk/typescript', 'sdk/python', 'sdk/go', 'scripts/cli', 'helm/yardmaster'].map(
  (folder) => `${folder}/README.md`,
);

it.each(PUBLISHED)('%s, which registries show elsewhere, has no relative links', (page) => {
  expect(linksOf(page).filter((link) => !/^(https?:|#)/.test(link))).toEqual([]);
});

it('docs/index.md lists every page of docs/', () => {
  const index = readFileSync(join(root, 'docs/index.md'), 'utf8');
  const files = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'index.md');
  expect(files.filter((file) => !index.includes(`](${relative('.', file)})`))).toEqual([]);
});

it('comments in the sources cite only existing pages and headings', () => {
  const sources = ['packages', 'apps', 'sdk'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const cited = sources
    .filter((file) => /\.(ts|tsx|lua|go|py)$/.test(file) && !/node_modules|dist\/|site-packages/.test(file))
    .flatMap((file) => read(file).match(/docs\/[\w/-]+\.md(#[\w-]+)?/g) ?? []);
  const broken = [...new Set(cited)].filter((link) => {
    const [page, anchor] = link.split('#') as [string, string?];
    return !existsSync(join(root, page)) || (anchor !== undefined && !anchorsOf(join(root, page)).includes(anchor));
  });
  expect(broken).toEqual([]);
});
