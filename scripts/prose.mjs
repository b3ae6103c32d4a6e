// Check the English of everything that people read with vale: pages and comments as they are, and the strings of
// programs, tests and the chart, which vale does not extract from a source.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';

const root = fileURLToPath(new URL('..', import.meta.url));
const THREE_WORDS = /[a-z']+,? [a-z']+[,:;]? [a-z']+/i;

/** Return the matches of a pattern's group in each line of a source, as `[line, text]`. */
const matchesOf = (pattern) => (source) =>
  source.split('\n').flatMap((line, i) => [...line.matchAll(pattern)].map(([, text]) => [i + 1, text]));

const quoted = matchesOf(/(?<!")"((?:[^"\\]|\\.)+)"(?!")/g);

/** How to read the strings of a file, by its path. The first matching row applies. */
const READERS = [
  [/\.generated\.ts$|\.d\.mts$|_wire\.py$|wire\.go$/, null],
  [/\.(ts|tsx|mjs)$/, stringsOfScript],
  [/\.(py|go)$|^helm\/.*\.(json|tpl)$/, quoted],
  [/^helm\/.*\.txt$/, matchesOf(/^(.+)$/g)],
  [/\.(ya?ml|sh|toml|conf)$|Dockerfile$|^\.ci\//, matchesOf(/(?:^|\s)(?:#+|(?:summary|description|title):) (.+)$/g)],
];

/** Return the string literals, templates and texts of elements in TypeScript or JavaScript, as `[line, text]`. */
function stringsOfScript(source, file) {
  const bytes = Buffer.from(source);
  const lineOf = (place) => bytes.toString('utf8', 0, place - 1).split('\n').length;
  const found = [];
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    const text = node.type === 'TemplateLiteral' ? node.quasis.map(({ cooked }) => cooked).join('…') : node.value;
    if (['StringLiteral', 'JSXText', 'TemplateLiteral'].includes(node.type))
      found.push([lineOf(node.span.start), text]);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(source, { syntax: 'typescript', tsx: !file.endsWith('.ts'), target: 'es2023' }));
  return found;
}

/** Return a page with the strings of a file, each on its line of the source, or undefined if it has none. */
function pageOf(file) {
  const [, read] = READERS.find(([path]) => path.test(file)) ?? [];
  const lines = [];
  for (const [first, text] of read?.(readFileSync(join(root, file), 'utf8'), file) ?? [])
    for (const [i, line] of (THREE_WORDS.test(text) ? text.split('\n') : []).entries())
      lines[first - 1 + i] = `${lines[first - 1 + i] ?? ''} ${line.trim()}`.trimStart(); // Indented, it would be code.
  return lines.length === 0 ? undefined : Array.from(lines, (line) => line ?? '').join('\n');
}

function vale(cwd, paths) {
  const options = ['--config', join(root, '.vale.ini'), '--output=line'];
  return spawnSync('vale', [...options, ...paths], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const folder = mkdtempSync(join(tmpdir(), 'yardmaster-prose-'));
try {
  for (const file of files) {
    const page = pageOf(file);
    if (page === undefined) continue;
    const target = join(folder, `${file}.md`); // As Markdown, vale skips code in backticks.
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, page);
  }
  const sources = vale(root, files);
  const strings = vale(folder, ['.']);
  if (sources.error) process.stdout.write('vale is not installed, so the English was not checked.\n');
  else {
    process.stdout.write(`${sources.stdout}${strings.stdout.replaceAll(/^(.+?)\.md:/gm, '$1:')}`);
    process.exitCode = sources.status === 0 && strings.status === 0 ? 0 : 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
