// A page of figures: its tables stand between comments that name them, its charts are images of a folder that has its name.
import { faults } from './faults.mjs';
import { faultsSoak } from './faults-soak.mjs';
import { growth } from './growth.mjs';
import { latency } from './latency.mjs';
import { scripts } from './scripts.mjs';
import { soak } from './soak.mjs';
import { speed } from './speed.mjs';

/** Pages that show results, each with its charts in a folder beside it. */
export const PAGES = ['performance', 'reliability'];

/**
 * What is made of the results of each measurement, by the name of their file in bench/results. One that may be missing says
 * what stands in place of its tables and figures: `absent`.
 */
const SOURCES = { speed, scripts, growth, latency, soak, faults, 'faults-soak': faultsSoak };

const REGION = /(<!-- (table|figure):([\w-]+) -->)[\s\S]*?(<!-- \/\2 -->)/g;
const IMAGE = /!\[[^\]]*\]\(([\w-]+)\/([\w-]+)\.svg\)/g;

/**
 * The page with the tables and figures that it names made anew. A table stands between `<!-- table:name -->` and
 * `<!-- /table -->`, a figure within a sentence between `<!-- figure:name -->` and `<!-- /figure -->`.
 *
 * @param results what was measured, by the name of the measurement
 */
export function withTables(page, results) {
  const fresh = page.replace(REGION, (_, begin, kind, name, end) => {
    const made = make(`${kind}s`, name, results);
    return kind === 'table' ? `${begin}\n\n${made}\n\n${end}` : `${begin}${made}${end}`;
  });
  // Markdown would take such a line for HTML, and end the paragraph there.
  if (/^ *<!-- figure/m.test(page)) throw new Error('a figure stands at the beginning of a line: put a word before it');
  const lost = /<!-- \/?(table|figure)\b.*?-->/.exec(fresh.replace(REGION, ''));
  if (lost) throw new Error(`the page has a ${lost[0]} without its other end`);
  return fresh;
}

/** The charts that a page shows of its folder: the text of each svg file by its name. */
export function chartsOf(page, folder, results) {
  const names = [...page.matchAll(IMAGE)].filter(([, of]) => of === folder).map(([, , name]) => name);
  return new Map(names.map((name) => [`${name}.svg`, make('charts', name, results)]));
}

function make(kind, name, results) {
  const source = Object.keys(SOURCES).find((each) => Object.hasOwn(SOURCES[each][kind], name));
  if (source === undefined) throw new Error(`the page names ${name}, which is none of the ${kind}`);
  const { absent, [kind]: made } = SOURCES[source];
  if (results[source] !== undefined) return made[name](results[source]);
  if (absent !== undefined) return absent;
  throw new Error(`${name} is made of ${source}.json, which is missing`);
}
