import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { ROOT } from '../support/process.js';

/** List the titles of the tests in a source, without those in variables. */
function titlesIn(source: string): string[] {
  const titles: string[] = [];
  JSON.parse(JSON.stringify(parseSync(source, { syntax: 'typescript' })), (_key, node) => {
    let callee = node?.callee;
    while (callee && callee.type !== 'Identifier') callee = callee.object ?? callee.callee ?? callee.tag;
    if (!['it', 'test', 'withClient'].includes(callee?.value) || node.arguments.length < 2) return node;
    const { type, value, quasis } = node.arguments[0].expression;
    if (type === 'StringLiteral') titles.push(value);
    if (type === 'TemplateLiteral') titles.push(quasis.map(({ raw }: { raw: string }) => raw).join('$'));
    return node;
  });
  return titles;
}

/** How a title begins that needs its describe, or the title before it. */
const PARTIAL =
  /^(is|are|has|have|can|cannot|may|must|and|but|also|its?|they|(the )?(same|others?)|another|otherwise)\b/;
const readsAlone = (title: string) => !PARTIAL.test(title) && title.split(' ').length >= 3;

it.each(['..', '../../chaos', '../../sdk/typescript/test'])(
  'test titles in %s read alone and are unique in their file',
  (folder) => {
    const path = fileURLToPath(new URL(`${folder}/`, import.meta.url));
    for (const file of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
      if (!/\.m?[jt]s$/.test(file)) continue;
      const source = readFileSync(path + file, 'utf8');
      const titles = /@jest\/globals|node:test/.test(source) ? titlesIn(source) : [];
      const wrong = titles.filter((title, n) => !readsAlone(title) || titles.indexOf(title) < n);
      expect({ file, wrong }).toEqual({ file, wrong: [] });
    }
  },
);

it.each(['is no API key', 'are refused for logs', 'has no faults that fsck finds', 'works', 'and the others'])(
  'the rule for test titles refuses "%s"',
  (title) => expect(readsAlone(title)).toBe(false),
);

const CODE = /\.(ts|mts|tsx|mjs|js|py|go|sh|lua|css|html)$/;
const GENERATED = /generated|\/wire\.|_wire\.|package-lock/;
/** Tests of the SDKs, the scenarios that all of them play, and their examples. */
const NOT_SDK_SOURCES = /(^|\/)(tests?|conformance|examples?)\/|_test\.(go|py)$|\.test\.ts$/;

/** Count the lines of code that git knows below some folders. */
function linesOf(folders: string[], isCounted = (_: string) => true): number {
  const list = execFileSync('git', ['ls-files', ...folders], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
  const files = list.filter((file) => CODE.test(file) && !GENERATED.test(file) && isCounted(file));
  return files.reduce((sum, file) => sum + readFileSync(ROOT + file, 'utf8').split('\n').length - 1, 0);
}

it('tests, faults, benches and scripts have at most 1.3 lines for each line of the product and the SDKs', () => {
  const proof = linesOf(['test', 'chaos', 'bench', 'scripts']);
  const product = linesOf(['apps', 'packages']) + linesOf(['sdk'], (file) => !NOT_SDK_SOURCES.test(file));
  expect(proof / product).toBeLessThanOrEqual(1.3);
  expect(proof / product).toBeGreaterThan(0.5); // Otherwise the count is wrong.
});
