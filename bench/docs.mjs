// npm run bench:docs [-- --check]
//
// Write the tables and charts of docs/performance.md from the results in bench/results. A table is on the page between
// `<!-- table:name -->` and `<!-- /table -->`, a chart is an image in docs/performance. The sentences are written by hand. With
// --check, write nothing, and exit with 1 when a table or a chart differs from the results.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as growth from './growth/tables.mjs';
import * as instructions from './instructions/tables.mjs';
import * as latency from './latency/tables.mjs';
import * as schedule from './schedule/tables.mjs';
import * as sdk from './sdk/tables.mjs';
import * as speed from './speed/tables.mjs';
import * as waiting from './waiting/tables.mjs';

/** Tables and charts by the name of the results' file, unless they name another one. */
const MADE = Object.entries({ speed, sdk, growth, latency, schedule, waiting, instructions });

const REGION = /(<!-- table:([\w-]+) -->)[\s\S]*?(<!-- \/table -->)/g;
const IMAGE = /!\[[^\]]*\]\(performance\/([\w-]+)\.svg\)/g;

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const read = (relative) => readFileSync(path(relative), 'utf8');

const readResults = ([name, { file = `bench/results/${name}.json` }]) => [name, JSON.parse(read(file))];
const results = Object.fromEntries(MADE.map(readResults));

function make(kind, name) {
  const [bench, from] = MADE.find(([, made]) => Object.hasOwn(made[kind] ?? {}, name)) ?? [];
  const made = from?.[kind][name](results[bench]);
  if (!made) throw new Error(`docs/performance.md names ${name}, for which there is no result`);
  return made;
}

const PAGE = 'docs/performance.md';
const page = read(PAGE);
const withTables = page.replace(REGION, (_, begin, name, end) => `${begin}\n\n${make('tables', name)}\n\n${end}`);
if (/<!-- \/?table/.test(page.replace(REGION, ''))) throw new Error(`${PAGE} has a table without its other end`);
const charts = [...page.matchAll(IMAGE)].map(([, name]) => [`docs/performance/${name}.svg`, make('charts', name)]);
const fresh = new Map([[PAGE, withTables], ...charts]);

const there = readdirSync(path('docs/performance')).map((name) => `docs/performance/${name}`);
const stale = [...fresh.keys()].filter((file) => !existsSync(path(file)) || read(file) !== fresh.get(file));
const unused = there.filter((file) => !fresh.has(file));

if (values.check) {
  for (const file of [...stale, ...unused]) process.stderr.write(`${file} is stale: run npm run bench:docs\n`);
  process.exitCode = stale.length + unused.length > 0 ? 1 : 0;
} else {
  for (const file of stale) writeFileSync(path(file), fresh.get(file));
  for (const file of unused) rmSync(path(file));
}
