// Turn packages/store/lua/*.lua into the one generated module that tsc, jest and the image ship.
//
//   node scripts/lua-module.mjs           write it
//   node scripts/lua-module.mjs --check   fail when it is stale
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../packages/store/lua/', import.meta.url);
const target = new URL('../packages/store/src/script/scripts.generated.ts', import.meta.url);

const read = (path) => readFileSync(new URL(path, folder), 'utf8');

/** Names on the line `-- KEYS a b` or `-- ARGV a b rest...`, which must be the file's first or second. */
function inputs(source, file, word, line) {
  const match = source.split('\n')[line].match(new RegExp(`^-- ${word} (.+)$`));
  if (!match) throw new Error(`${file}: line ${line + 1} must be "-- ${word} name …"`);
  return match[1].trim().split(/\s+/);
}

/** Drop comment lines and blank lines: the comments are for the reader of the source, not for Redis. */
const bare = (source) =>
  source
    .split('\n')
    .filter((line) => !/^\s*(--.*)?$/.test(line))
    .join('\n');

function localsFor(keys, args) {
  const lines = [`local ${keys.join(', ')} = ${keys.map((_, i) => `KEYS[${i + 1}]`).join(', ')}`];
  const plain = args.filter((name) => !name.endsWith('...'));
  if (plain.length > 0) lines.push(`local ${plain.join(', ')} = ${plain.map((_, i) => `ARGV[${i + 1}]`).join(', ')}`);
  const rest = args.find((name) => name.endsWith('...'));
  if (rest) lines.push(`local ${rest.slice(0, -3)} = { unpack(ARGV, ${plain.length + 1}) }`);
  return lines.join('\n');
}

function compile(file) {
  const source = read(file);
  const keys = inputs(source, file, 'KEYS', 0);
  const args = inputs(source, file, 'ARGV', 1);
  const shared = source.match(/^-- @include (.+)$/m)?.[1].split(/\s+/) ?? [];
  const text = `${[localsFor(keys, args), ...shared.map((name) => bare(read(`shared/${name}.lua`))), bare(source)].join('\n')}\n`;
  const rest = args.find((name) => name.endsWith('...'))?.slice(0, -3);
  return {
    name: file.replace('.lua', ''),
    keys,
    args: args.filter((name) => !name.endsWith('...')),
    rest,
    text,
  };
}

/** A JavaScript string in the house's single quotes. */
const literal = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const tuple = (names) => `[${names.map(literal).join(', ')}]`;
const template = (text) => `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;

function entry({ name, keys, args, rest, text }) {
  const sha1 = createHash('sha1').update(text).digest('hex');
  return `export const ${name} = {
  name: ${literal(name)},
  sha1: ${literal(sha1)},
  keys: ${tuple(keys)},
  args: ${tuple(args)},
  rest: ${rest ? literal(rest) : 'null'},
  text: ${template(text)},
} as const;
`;
}

const files = readdirSync(folder).filter((file) => file.endsWith('.lua'));
const generated = `// Made by scripts/lua-module.mjs from packages/store/lua. Do not edit: edit the .lua files and build.\n\n${files
  .sort()
  .map((file) => entry(compile(file)))
  .join('\n')}`;

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== generated) {
    process.stderr.write(`${fileURLToPath(target)} is stale: run npm run build\n`);
    process.exit(1);
  }
} else {
  let current = '';
  try {
    current = readFileSync(target, 'utf8');
  } catch {
    // Not there yet.
  }
  // Leave an unchanged file alone, or tsc would build again.
  if (current !== generated) writeFileSync(target, generated);
}
