// npm run bench:docs [-- --check] [--docs docs] [--results bench/results]
//
// Writes what docs/performance.md shows of the results in bench/results: its tables and docs/performance/*.svg. With --check it
// writes nothing, and fails when something there differs from what the results say.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chartsOf, withTables } from './page.mjs';

const folder = (relative) => ({
  type: 'string',
  default: fileURLToPath(new URL(`../../${relative}`, import.meta.url)),
});
const { values } = parseArgs({
  options: { check: { type: 'boolean' }, docs: folder('docs'), results: folder('bench/results') },
});

const pageFile = join(values.docs, 'performance.md');
const chartsFolder = join(values.docs, 'performance');

const namesIn = (path, ending) => (existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(ending)) : []);
const read = (path) => readFileSync(path, 'utf8');

const results = Object.fromEntries(
  namesIn(values.results, '.json').map((name) => [
    basename(name, '.json'),
    JSON.parse(read(join(values.results, name))),
  ]),
);

const page = read(pageFile);
const committed = new Map([[pageFile, page]]);
for (const name of namesIn(chartsFolder, '.svg'))
  committed.set(join(chartsFolder, name), read(join(chartsFolder, name)));

const fresh = new Map([[pageFile, withTables(page, results)]]);
for (const [name, svg] of chartsOf(page, results)) fresh.set(join(chartsFolder, name), svg);

const stale = [...new Set([...committed.keys(), ...fresh.keys()])].filter(
  (path) => committed.get(path) !== fresh.get(path),
);

if (values.check) {
  for (const path of stale) process.stderr.write(`${path} is stale: run npm run bench:docs\n`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  mkdirSync(chartsFolder, { recursive: true });
  for (const path of stale) {
    if (fresh.has(path)) writeFileSync(path, fresh.get(path));
    // A chart that the page no longer shows.
    else rmSync(path);
  }
}
