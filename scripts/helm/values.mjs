// Write the table of values in the chart's README from values.yaml: one row per value with a `# --` comment. With --check,
// write nothing, and fail if the table is stale or a value has no comment.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMap, parseDocument } from 'yaml';

const file = (name) => fileURLToPath(new URL(`../../helm/yardmaster/${name}`, import.meta.url));
const [BEGIN, END] = ['<!-- values: made by scripts/helm/values.mjs -->\n', '<!-- end of values -->'];

/** Return the text after the last `--` of the comment above a key. */
const meaningIn = (comment) => / -- (.+)/.exec(` ${(comment ?? '').split('\n').at(-1)}`)?.[1];

/** Return the comment above an item. The parser stores the comment above the first key of a map in the map. */
const commentOf = (map, index) => map.items[index].key.commentBefore ?? (index === 0 ? map.commentBefore : '');

/** Build the rows of a map and everything below it. A value without a comment must be below one that has a comment. */
function rowsOf(map, path, isCovered) {
  return map.items.flatMap(({ key, value }, index) => {
    const name = [...path, key.value].join('.');
    const meaning = meaningIn(commentOf(map, index));
    const isDescribed = meaning !== undefined;
    const below = isMap(value) ? rowsOf(value, [...path, key.value], isCovered || isDescribed) : [];
    const isLeaf = !isMap(value) || value.items.length === 0;
    if (isLeaf && !isDescribed && !isCovered) throw new Error(`values.yaml: ${name} has no comment`);
    if (!isDescribed) return below;
    const byDefault = below.length > 0 ? '' : `\`${JSON.stringify(value.toJSON())}\``;
    return [`| \`${name}\` | ${byDefault} | ${meaning} |`, ...below];
  });
}

const values = parseDocument(readFileSync(file('values.yaml'), 'utf8'));
const table = ['| Value | Default | Meaning |', '|---|---|---|', ...rowsOf(values.contents, [], false), ''].join('\n');
const readme = readFileSync(file('README.md'), 'utf8');
const [before, rest = ''] = readme.split(BEGIN);
const fresh = `${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`;

if (process.argv.includes('--check')) {
  if (fresh !== readme) {
    process.stderr.write('helm/yardmaster/README.md is stale: run node scripts/helm/values.mjs\n');
    process.exit(1);
  }
} else {
  writeFileSync(file('README.md'), fresh);
}
