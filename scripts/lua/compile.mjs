// Read .lua files: their headers, the functions that they share, and which of those a script uses.
import { basename } from 'node:path';

const BUILT_IN =
  /^(unpack|tonumber|tostring|type|ipairs|pcall|error|select|function|and|or|not|if|elseif|while|return|in)$/;

/** Drop comments and blank lines: comments are for the reader of the source, not for Redis. */
const bare = (source) => source.replaceAll(/^\s*(--.*)?\n| +-- .*$/gm, '');
/** Names that some Lua uses, field names left out. */
const namesIn = (code) => code.replaceAll(/'[^']*'/g, '').match(/(?<![.:\w])[A-Za-z_]\w*/g) ?? [];

/** Split a shared file into its top-level declarations, by name. */
export const declarations = (source) =>
  bare(source)
    .split(/^(?=local )/m)
    .map((code) => [/^local (?:function )?(\w+)/.exec(code)?.[1], code.trimEnd()]);

/** Return the names of shared declarations that some code needs, each after those that it needs itself. */
function neededBy(code, shared, found = [], open = []) {
  for (const name of namesIn(code)) {
    if (!shared.has(name) || found.includes(name) || shared.get(name) === code) continue;
    if (open.includes(name)) throw new Error(`shared Lua in a circle: ${[...open, name].join(' → ')}`);
    neededBy(shared.get(name), shared, found, [...open, name]);
    found.push(name);
  }
  return found;
}

/**
 * Put the shared declarations that some code needs before it, as `{ use: name }`. Redis makes a function again at
 * each call of its script, which was 1.5 % of the cost of a job's life, so one that only a branch at the top level needs
 * is declared in that branch. A branch is an `if` on several lines.
 */
function withShared(code, shared) {
  const pieces = code.split(/^(if .* then\n)([\s\S]*?)(?=^(?:else|end))/m); // code, a condition, its branch, code, …
  const isBranch = (_, i) => i % 3 === 2;
  const always = neededBy(pieces.filter((_, i) => !isBranch(_, i)).join(''), shared);
  const declared = (names) => names.map((use) => ({ use }));
  const parts = pieces.flatMap((piece, i) => {
    if (!isBranch(piece, i)) return piece;
    return [...declared(neededBy(piece, shared, [...always]).slice(always.length)), piece];
  });
  return [...declared(always), ...parts];
}

/** Lua that names the inputs of a script. */
function localsFor(keys, args, rest) {
  const lines = [`local ${keys.join(', ')} = ${keys.map((_, i) => `KEYS[${i + 1}]`).join(', ')}`];
  if (args.length > 0) lines.push(`local ${args.join(', ')} = ${args.map((_, i) => `ARGV[${i + 1}]`).join(', ')}`);
  if (rest) lines.push(`local ${rest} = { unpack(ARGV, ${args.length + 1}) }`);
  return `${lines.join('\n')}\n`;
}

/**
 * Compile a script: check it against its header, and find the shared Lua that it uses.
 *
 * @param shared shared Lua by name
 */
export function compile(file, source, shared) {
  const fail = (message) => {
    throw new Error(`${file}: ${message}`);
  };
  const header = (word) =>
    [...source.matchAll(new RegExp(`^-- ${word} (.+)$`, 'gm'))].map(([, text]) => text.split(/\s+/));
  const [keys] = header('KEYS');
  const [inputs] = header('ARGV');
  const replies = header('REPLY');
  if (!keys || !inputs || replies.length === 0) fail('the header must have KEYS, ARGV and REPLY');
  const args = inputs.filter((input) => !input.endsWith('...'));
  const rest = inputs.find((input) => input.endsWith('...'))?.slice(0, -3) ?? null;

  const body = bare(source);
  const words = [...replies.map(([word]) => word), ...header('ERRORS').flat()];
  for (const [, word] of body.matchAll(/return \{ '([A-Z_]+)'/g)) if (!words.includes(word)) fail(`declare ${word}`);
  const own = new Set([...body.matchAll(/local (?:function )?(\w+)/g)].map(([, it]) => it));
  for (const name of own) if (shared.has(name)) fail(`${name} is the name of a shared function`);
  for (const [, called] of body.replaceAll(/'[^']*'/g, '').matchAll(/(?<![.:\w])(\w+)\(/g)) {
    if (!shared.has(called) && !own.has(called) && !BUILT_IN.test(called)) fail(`there is no function ${called}`);
  }
  return {
    name: basename(file, '.lua'),
    keys,
    args,
    rest,
    replies,
    parts: withShared(localsFor(keys, args, rest) + body, shared),
  };
}
