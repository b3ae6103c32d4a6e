import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixtures = join(root, 'test/bench/fixtures/results');
const source = readFileSync(join(root, 'docs/performance.md'), 'utf8');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yardmaster-docs-'));
  writePage(source);
});
afterEach(() => rmSync(folder, { recursive: true }));

const writePage = (text: string) => writeFileSync(join(folder, 'performance.md'), text);
const readPage = () => readFileSync(join(folder, 'performance.md'), 'utf8');
const chart = (name: string) => join(folder, 'performance', name);

/** Run `npm run bench:docs` on a folder of documents. */
function render(flags: string[] = [], results = fixtures, docs = folder) {
  const args = [join(root, 'bench/charts/main.mjs'), '--docs', docs, '--results', results, ...flags];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, stderr };
}

const shown = (pattern: RegExp) => [...source.matchAll(pattern)].map(([, name]) => name as string);

describe('the page of figures', () => {
  it('has data for every table and figure, and charts for its images', () => {
    expect(render()).toEqual({ status: 0, stderr: '' });
    const empty = [...readPage().matchAll(/<!-- (\S+) -->\s*<!-- \//g)].map(([, name]) => name);
    expect(empty).toEqual([]);
    expect(readPage()).not.toMatch(/undefined|NaN|Infinity/);
    const images = shown(/!\[[^\]]+\]\((\S+)\)/g).map((path) => path.replace('performance/', ''));
    expect(readdirSync(join(folder, 'performance')).sort()).toEqual(images.sort());
  });

  it('has charts that are small and say in words what they show', () => {
    render();
    for (const name of readdirSync(join(folder, 'performance'))) {
      const svg = readFileSync(chart(name), 'utf8');
      expect(svg.length).toBeLessThan(30_000);
      expect(svg).toMatch(/<title id="title">[^<]{20,}<\/title>\n<desc id="description">[^<]{20,}<\/desc>/);
      expect(svg).not.toMatch(/undefined|NaN|Infinity|&nbsp;/);
    }
  });

  it('is the same each time that it is made', () => {
    render();
    expect(render(['--check'])).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['a figure in a table', () => writePage(readPage().replace(/\| (\s*)\d/, '| $19'))],
    ['a figure in a sentence', () => writePage(readPage().replace(/(<!-- figure:speed-rounds -->)\d+/, '$12'))],
    ['a chart', () => writeFileSync(chart('job-cost.svg'), '<svg/>')],
    ['a chart that is gone', () => rmSync(chart('job-cost.svg'))],
    ['a chart that is not shown', () => writeFileSync(chart('old.svg'), '<svg/>')],
  ])('fails its check when changed by hand: %s', (_, change) => {
    render();
    change();
    expect(render(['--check'])).toEqual({ status: 1, stderr: expect.stringContaining('run npm run bench:docs') });
    render();
    expect(render(['--check']).status).toBe(0);
  });

  it.each([
    ['no such table', '<!-- table:nothing -->\n<!-- /table -->', 'the page names nothing, which is none of the tables'],
    ['no such chart', '![A chart](performance/nothing.svg)', 'the page names nothing, which is none of the charts'],
    ['a table without an end', '<!-- table:cycle -->', 'without its other end'],
    ['a figure that begins a line', '<!-- figure:speed-rounds --><!-- /figure --> rounds', 'put a word before it'],
  ])('is refused with %s', (_, text, message) => {
    writePage(`${text}\n`);
    expect(render()).toEqual({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('is refused while results that it shows are missing', () => {
    const results = join(folder, 'results');
    mkdirSync(results);
    cpSync(join(fixtures, 'growth.json'), join(results, 'growth.json'));
    expect(render([], results)).toEqual({ status: 1, stderr: expect.stringContaining('speed.json, which is missing') });
  });

  it('says what the committed results say', () => {
    expect(render(['--check'], join(root, 'bench/results'), join(root, 'docs'))).toEqual({ status: 0, stderr: '' });
  });
});
