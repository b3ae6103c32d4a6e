import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { ROOT } from '../support/process.js';

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
