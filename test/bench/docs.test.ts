import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixtures = join(root, 'test/bench/fixtures/results');
const PAGES = ['performance', 'reliability'] as const;
type Page = (typeof PAGES)[number];
const sourceOf = (page: Page) => readFileSync(join(root, `docs/${page}.md`), 'utf8');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yardmaster-docs-'));
  for (const page of PAGES) writePage(sourceOf(page), page);
});
afterEach(() => rmSync(folder, { recursive: true }));

const writePage = (text: string, page: Page = 'performance') => writeFileSync(join(folder, `${page}.md`), text);
const readPage = (page: Page = 'performance') => readFileSync(join(folder, `${page}.md`), 'utf8');
const chart = (name: string) => join(folder, 'performance', name);

/** What stands in a page between the two ends of a table or a figure. */
const regionOf = (name: string, page: Page) =>
  new RegExp(`<!-- ${name} -->([^]*?)<!-- /`).exec(readPage(page))?.[1]?.trim();

/** Give the results in a folder that a test may change. */
function copyResults(): string {
  const results = join(folder, 'results');
  cpSync(fixtures, results, { recursive: true });
  return results;
}

// biome-ignore lint/suspicious/noExplicitAny: results of every kind
function change(results: string, name: string, how: (json: any) => void): void {
  const file = join(results, `${name}.json`);
  const json = JSON.parse(readFileSync(file, 'utf8'));
  how(json);
  writeFileSync(file, JSON.stringify(json));
}

/** Run `npm run bench:docs` on a folder of documents. */
function render(flags: string[] = [], results = fixtures, docs = folder) {
  const args = [join(root, 'bench/charts/main.mjs'), '--docs', docs, '--results', results, ...flags];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, stderr };
}

describe('the pages of figures', () => {
  it.each(PAGES)('have data for every table and figure: %s', (page) => {
    expect(render()).toEqual({ status: 0, stderr: '' });
    const empty = [...readPage(page).matchAll(/<!-- (\S+) -->\s*<!-- \//g)].map(([, name]) => name);
    expect(empty).toEqual([]);
    expect(readPage(page)).not.toMatch(/undefined|NaN|Infinity/);
  });

  it('have charts for their images', () => {
    render();
    const images = [...sourceOf('performance').matchAll(/!\[[^\]]+\]\(performance\/(\S+)\)/g)].map(([, name]) => name);
    expect(readdirSync(join(folder, 'performance')).sort()).toEqual(images.sort());
  });

  it('have charts that are small and say in words what they show', () => {
    render();
    for (const name of readdirSync(join(folder, 'performance'))) {
      const svg = readFileSync(chart(name), 'utf8');
      expect(svg.length).toBeLessThan(30_000);
      expect(svg).toMatch(/<title id="title">[^<]{20,}<\/title>\n<desc id="description">[^<]{20,}<\/desc>/);
      expect(svg).not.toMatch(/undefined|NaN|Infinity|&nbsp;/);
    }
  });

  it('are the same each time that they are made', () => {
    render();
    expect(render(['--check'])).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['a figure in a table', () => writePage(readPage().replace(/\| (\s*)\d/, '| $19'))],
    ['a figure in a sentence', () => writePage(readPage().replace(/(<!-- figure:speed-rounds -->)\d+/, '$12'))],
    ['a table of faults', () => writePage(readPage('reliability').replace(/\| all .*/, ''), 'reliability')],
    ['a chart', () => writeFileSync(chart('job-cost.svg'), '<svg/>')],
    ['a chart that is gone', () => rmSync(chart('job-cost.svg'))],
    ['a chart that is not shown', () => writeFileSync(chart('old.svg'), '<svg/>')],
  ])('fail their check when changed by hand: %s', (_, edit) => {
    render();
    edit();
    expect(render(['--check'])).toEqual({ status: 1, stderr: expect.stringContaining('run npm run bench:docs') });
    render();
    expect(render(['--check']).status).toBe(0);
  });

  it.each([
    ['no such table', '<!-- table:nothing -->\n<!-- /table -->', 'the page names nothing, which is none of the tables'],
    ['no such chart', '![A chart](performance/nothing.svg)', 'the page names nothing, which is none of the charts'],
    ['a table without an end', '<!-- table:cycle -->', 'without its other end'],
    ['a figure that begins a line', '<!-- figure:speed-rounds --><!-- /figure --> rounds', 'put a word before it'],
  ])('are refused with %s', (_, text, message) => {
    writePage(`${text}\n`);
    expect(render()).toEqual({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('are refused while results that they show are missing', () => {
    const results = join(folder, 'results');
    mkdirSync(results);
    cpSync(join(fixtures, 'growth.json'), join(results, 'growth.json'));
    expect(render([], results)).toEqual({ status: 1, stderr: expect.stringContaining('speed.json, which is missing') });
  });

  it('say what the committed results say', () => {
    expect(render(['--check'], join(root, 'bench/results'), join(root, 'docs'))).toEqual({ status: 0, stderr: '' });
  });
});

describe('the page of promises', () => {
  const page = 'reliability';
  const rowOf = (table: string, first: string) =>
    regionOf(`table:${table}`, page)
      ?.split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .find((cells) => cells[1] === first)
      ?.slice(2, -1);

  it('has a figure for each of its promises', () => {
    const [promises] = sourceOf(page).split('## What is broken on purpose') as [string];
    expect(promises.match(/<!-- figure:P\d+ -->/g)?.length).toBe(promises.match(/^### /gm)?.length);
  });

  it('adds up runs of a fault, and all runs', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      const [one] = json.runs;
      const violation = { promise: 'P4', rule: 'lateness', damage: 'late', jobId: 'a', says: 'late', lines: [] };
      const fault = { name: 'F1', title: 'an API is killed' };
      const sums = { operations: 10, refused: 3, unknown: 2, lost: 1, duplicated: 1, worstLatenessMs: 400 };
      json.runs = [
        { ...one, ...fault, ...sums, seed: 1, violations: [] },
        { ...one, ...fault, ...sums, seed: 2, worstLatenessMs: 1_234, violations: [violation] },
        {
          ...one,
          ...sums,
          name: 'F30',
          title: 'two releases',
          violations: [{ ...violation, rule: 'fsck', damage: 'other' }],
        },
      ];
    });
    render([], results);
    expect(rowOf('faults', 'F1')).toEqual(['an API is killed', '2', '20', '6', '4', '2', '2', '1', '1.2 s', '1', '0']);
    expect(rowOf('faults', 'all')).toEqual(['', '3', '30', '9', '6', '3', '3', '1', '1.2 s', '2', '1']);
  });

  it('has faults in the order of their numbers', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      json.runs = ['F12-cut', 'F2', 'F12-silent', 'F1'].map((name) => ({ ...json.runs[0], name }));
    });
    render([], results);
    expect(regionOf('table:faults', page)?.match(/F[\w-]+/g)).toEqual(['F1', 'F2', 'F12-cut', 'F12-silent']);
  });

  it('says of jobs that are gone where they went', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      const [one] = json.runs;
      const lost = { promise: 'P1', rule: 'creates', damage: 'lost', jobId: 'a', says: 'lost', lines: [] };
      json.runs = [
        { ...one, name: 'F1', counts: { ...one.counts, created: 1_000, createdGone: 2 }, violations: [lost, lost] },
        { ...one, name: 'F5-everysec', counts: { ...one.counts, created: 500, createdGone: 40 }, violations: [] },
      ];
    });
    render([], results);
    expect(regionOf('figure:P1', page)).toMatch(
      /^1 500 jobs were created, 2 of them were lost, beside 40 .* Broken: twice\.$/,
    );
    expect(rowOf('faults-taken', 'F5-everysec')?.slice(1, 5)).toEqual(['1', '500', '40', '40']);
    expect(rowOf('faults-taken', 'F1')).toBeUndefined();
  });

  it('says so when a fault that a promise is shown by had no run', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      json.runs = [{ ...json.runs[0], name: 'F1' }];
    });
    render([], results);
    expect(regionOf('figure:P14', page)).toBe('F27 had no run. Broken: never.');
    expect(regionOf('figure:faults-extent', page)).toMatch(/^1 runs of 1 of the \d+ faults, seed/);
  });

  it('tells of runs that came to no end', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      json.unfinished = [{ name: 'F9-failover', seed: 1, says: 'no primary' }];
    });
    render([], results);
    expect(regionOf('figure:faults-extent', page)).toMatch(/; 1 more came to no end$/);
  });

  it('refuses to tell a figure that no run has', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      json.runs = json.runs.map((run: { figures: object }) => ({ ...run, name: 'F15', figures: {} }));
    });
    expect(render([], results).stderr).toContain('no run of F15');
  });

  it('does not take what a full Redis refuses for a Redis that is away', () => {
    const results = copyResults();
    const statuses = { 503: 7 };
    change(results, 'faults', (json) => {
      const [one] = json.runs;
      const figures = {
        'creations refused': 1,
        'logs refused': 1,
        'ended while full': 1,
        'timed out while full': 1,
        'latest time-out ms': 1,
      };
      json.runs = ['F4-8s', 'F15'].map((name) => ({ ...one, name, figures, counts: { ...one.counts, statuses } }));
    });
    render([], results);
    expect(regionOf('figure:P12', page)).toMatch(/^7 calls were answered 503/);
  });

  it('says of mutants whether each promise that they break was seen to be broken', () => {
    const results = copyResults();
    change(results, 'faults', (json) => {
      json.mutants = [
        { title: 'one', breaks: ['P4', 'P16'], seen: ['P16', 'P8', 'P4'] },
        { title: 'other', breaks: ['P4', 'P16'], seen: ['P4'] },
      ];
    });
    render([], results);
    expect(rowOf('mutants', 'one')).toEqual(['time-outs come, and in time; what is stored agrees', 'yes']);
    expect(rowOf('mutants', 'other')?.at(-1)).toBe('no');
    expect(regionOf('figure:mutants-seen', page)).toBe('1 of 2');
    change(results, 'faults', (json) => {
      json.titles = ['one', 'other', 'one that came to no end'];
    });
    render([], results);
    expect(regionOf('figure:mutants-seen', page)).toBe('1 of 3');
  });

  it('says of each promise how often it was broken, also by faults that are not its own', () => {
    const results = copyResults();
    const promises = [1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16].map((n) => `P${n}`);
    change(results, 'faults', (json) => {
      const violation = { rule: 'a rule', damage: 'other', jobId: null, says: 'broken', lines: [] };
      json.runs[0].violations = promises.map((promise) => ({ ...violation, promise }));
      json.runs[1].violations = [{ ...violation, promise: 'P14' }];
      json.runs[1].counts.keylessWithheld = 3;
    });
    render();
    const verdictOf = (promise: string) => / Broken: (.*)\.$/.exec(regionOf(`figure:${promise}`, page) ?? '')?.[1];
    expect([...promises, 'P9'].map(verdictOf)).toEqual(Array(15).fill('never'));
    render([], results);
    const broken = promises.map((promise) => (promise === 'P14' ? 'twice' : 'once'));
    expect([...promises, 'P9'].map(verdictOf)).toEqual([...broken, '3 times']);
  });

  it('has a table of the soak once there was one', () => {
    const results = copyResults();
    render([], results);
    expect(rowOf('faults-soak', 'faults')).toEqual(['23']);
    expect(rowOf('faults-soak', 'of 2 kinds, each')).toEqual(['11 to 12 times']);
    expect(rowOf('faults-soak', 'jobs lost')).toEqual(['0']);
    expect(rowOf('faults-soak', 'calls')).toEqual(['1 234 567']);
    rmSync(join(results, 'faults-soak.json'));
    expect(render([], results)).toEqual({ status: 0, stderr: '' });
    expect(regionOf('table:faults-soak', page)).toBe('Not run yet.');
  });
});
