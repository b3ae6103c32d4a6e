// npm run test:long -- conformance [--language Go --only 'lost' --tenth 3 --write]
//
// Run every scenario with the SDK of every language, against a real service, through a proxy that loses, delays and resets
// calls. docs/sdk-conformance.md has a table of the results: --write updates it; otherwise the run fails if the table
// differs. With --language, --only or --tenth, the table is not compared.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LANGUAGES } from './driver.mjs';
import { play } from './scenario.mjs';
import { startService } from './service.mjs';
import { pageOf } from './table.mjs';

const { values: options } = parseArgs({
  options: {
    language: { type: 'string', multiple: true, default: Object.keys(LANGUAGES) },
    only: { type: 'string', default: '' },
    tenth: { type: 'string' },
    lanes: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});

const folder = new URL('scenarios/', import.meta.url);
const page = new URL('../../docs/sdk-conformance.md', import.meta.url);
const groups = readdirSync(folder)
  .sort()
  .map((file) => ({ file, scenarios: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }));
const all = groups.flatMap(({ scenarios }) => scenarios);
const names = new Set(all.map(({ name }) => name));
if (names.size < all.length) throw new Error('two scenarios have the same name');

const isChosen = ({ name }, index) =>
  name.includes(options.only) && (options.tenth === undefined || index % 10 === Number(options.tenth) - 1);
const plays = all
  .filter(isChosen)
  .flatMap((scenario) =>
    options.language.map((language) => ({ scenario, language, reason: scenario.notFor?.[language] })),
  );
const results = new Map();
const keyOf = (scenario, language) => `${language}: ${scenario.name}`;
let failed = 0;

/** Run scenarios sequentially. Each lane has a service with its own clock. */
async function runLane(next) {
  const service = await startService();
  try {
    for (let one = next(); one !== undefined; one = next()) {
      const { scenario, language, reason } = one;
      const why = reason === undefined ? await play(scenario, language, service) : null;
      results.set(keyOf(scenario, language), reason === undefined ? (why === null ? 'yes' : 'no') : '–');
      if (why === null) continue;
      failed++;
      process.stdout.write(`✗ ${keyOf(scenario, language)}\n    ${why}\n`);
    }
  } finally {
    await service.stop();
  }
}

const queue = [...plays];
const began = performance.now();
await Promise.all(
  Array.from({ length: Math.min(Number(options.lanes), plays.length) }, () => runLane(() => queue.shift())),
);

if (options.only === '' && options.tenth === undefined && options.language.length === Object.keys(LANGUAGES).length) {
  const text = pageOf(groups, (scenario, language) => results.get(keyOf(scenario, language)));
  if (options.write) writeFileSync(page, text);
  else if (readFileSync(page, 'utf8') !== text) {
    process.stdout.write('✗ docs/sdk-conformance.md is outdated: run npm run test:long -- conformance --write\n');
    failed++;
  }
}
const seconds = Math.round((performance.now() - began) / 1_000);
process.stdout.write(`${plays.length - failed} passed, ${failed} failed (${seconds} s)\n`);
process.exitCode = failed === 0 ? 0 : 1;
