// npm run bench:docs [-- --check] [--docs docs] [--results bench/results]
//
// Writes what docs/performance.md and docs/reliability.md show of the results in bench/results: their tables, and
// docs/performance/*.svg. With --check it writes nothing, and fails when something there differs from what the results say.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chartsOf, PAGES, withTables } from './page.mjs';

const folder = (relative) => ({
  type: 'string',
  default: fileURLToPath(new URL(`../../${relative}`, import.meta.url)),
});
const { values } = parseArgs({
  options: { check: { type: 'boolean' }, docs: folder('docs'), results: folder('bench/results') },
});

const namesIn = (path, ending) => (existsSync(path) ? readdirSync(path).filter((name) => name.endsWith(ending)) : []);
const read = (path) => readFileSync(path, 'utf8');

const results = Object.fromEntries(
  namesIn(values.results, '.json').map((name) => [
    basename(name, '.json'),
    JSON.parse(read(join(values.results, name))),
  ]),
);

const committed = new Map();
const fresh = new Map();
for (const name of PAGES) {
  const pageFile = join(values.docs, `${name}.md`);
  const chartsFolder = join(values.docs, name);
  const page = read(pageFile);
  committed.set(pageFile, page);
  for (const svg of namesIn(chartsFolder, '.svg'))
    committed.set(join(chartsFolder, svg), read(join(chartsFolder, svg)));
  fresh.set(pageFile, withTables(page, results));
  for (const [svg, text] of chartsOf(page, name, results)) fresh.set(join(chartsFolder, svg), text);
}

const stale = [...new Set([...committed.keys(), ...fresh.keys()])].filter(
  (path) => committed.get(path) !== fresh.get(path),
);

if (values.check) {
  for (const path of stale) process.stderr.write(`${path} is stale: run npm run bench:docs\n`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const path of stale) {
    mkdirSync(dirname(path), { recursive: true });
    if (fresh.has(path)) writeFileSync(path, fresh.get(path));
    // A chart that no page shows any more.
    else rmSync(path);
  }
}
