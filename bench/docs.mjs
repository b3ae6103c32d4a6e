// npm run bench:docs [-- --check]
//
// Write the tables of the performance pages from the results in bench/results. A table is between `<!-- table:name -->` and
// `<!-- /table -->`. With --check, write nothing, and exit with 1 if a table differs from the results.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as instructions from './instructions/tables.mjs';
import * as latency from './latency/tables.mjs';
import * as schedule from './schedule/tables.mjs';
import * as sdk from './sdk/tables.mjs';
import * as speed from './speed/tables.mjs';

/** Tables by the name of the results file, unless they name another file. */
const MADE = Object.entries({ speed, sdk, latency, schedule, instructions });

const REGION = /(<!-- table:([\w-]+) -->)[\s\S]*?(<!-- \/table -->)/g;

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url));
const read = (relative) => readFileSync(path(relative), 'utf8');

const readResults = ([name, { file = `bench/results/${name}.json` }]) => [name, JSON.parse(read(file))];
const results = Object.fromEntries(MADE.map(readResults));

function make(name) {
  const [bench, from] = MADE.find(([, { tables }]) => Object.hasOwn(tables, name)) ?? [];
  const made = from?.tables[name](results[bench]);
  if (!made) throw new Error(`a page contains the table ${name}, which has no results`);
  return made;
}

const labBook = readdirSync(path('docs/performance')).filter((name) => name.endsWith('.md'));

for (const file of ['docs/performance.md', ...labBook.map((name) => `docs/performance/${name}`)]) {
  const page = read(file);
  if (/<!-- \/?table/.test(page.replace(REGION, ''))) throw new Error(`${file} has an unclosed table`);
  const fresh = page.replace(REGION, (_, begin, name, end) => `${begin}\n\n${make(name)}\n\n${end}`);
  if (!values.check) writeFileSync(path(file), fresh);
  else if (page !== fresh) {
    process.stderr.write(`${file} is stale: run npm run bench:docs\n`);
    process.exitCode = 1;
  }
}
