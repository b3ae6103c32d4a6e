// Parse .lua files: their headers, the functions that they share, and which of these each script uses.
import { basename } from 'node:path';

const BUILT_IN =
  /^(unpack|tonumber|tostring|type|ipairs|pairs|next|pcall|error|select|function|and|or|not|if|elseif|while|return|in)$/;

/** Remove comments and blank lines, which Redis does not need. */
const bare = (source) => source.replaceAll(/^\s*(--.*)?\n| +-- .*$/gm, '');
/** List the names used in some Lua, except field names. */
const namesIn = (code) => code.replaceAll(/'[^']*'/g, '').match(/(?<![.:\w])[A-Za-z_]\w*/g) ?? [];

/** Split a shared file into its top-level declarations, by name. */
export const declarations = (source) =>
  bare(source)
    .split(/^(?=local )/m)
    .map((code) => [/^local (?:function )?(\w+)/.exec(code)?.[1], code.trimEnd()]);

/**
 * Split code into pieces: code outside of branches, a condition, its branch, code outside, … A branch is an `if` on several
 * lines at the top level of a script or of a shared function.
 */
const piecesOf = (code) =>
  code.split(
    code.startsWith('local function')
      ? /^( {2}if .* then\n)([\s\S]*?)(?=^ {2}(?:else|end))/m
      : /^(if .* then\n)([\s\S]*?)(?=^(?:else|end))/m,
  );
const isBranch = (_, i) => i % 3 === 2;
const withoutBranches = (code) =>
  piecesOf(code)
    .filter((_, i) => !isBranch(_, i))
    .join('');

/** Return the names of the shared declarations that some code needs, in the order of their dependencies. */
function neededBy(code, shared, found = [], open = []) {
  for (const name of namesIn(withoutBranches(code))) {
    if (!shared.has(name) || found.includes(name) || open.at(-1) === name) continue;
    if (open.includes(name)) throw new Error(`circular shared Lua: ${[...open, name].join(' → ')}`);
    neededBy(bodyOf(shared.get(name)), shared, found, [...open, name]);
    found.push(name);
  }
  return found;
}

/** Number of branches from which on they share a declaration. */
const OFTEN = 6;

/** Return the text of a shared declaration, which is either a text or a verb. */
const bodyOf = (declaration) => declaration.body ?? declaration;

/**
 * Prepend the shared declarations that some code needs, as `{ use: name }`. A declaration that only a branch at the top level
 * needs goes into that branch, because Redis creates all functions of a script at each call, which was 1.5% of the cost of a
 * job. A declaration with state must also be used outside of branches, or each branch would have its own state.
 *
 * @param declared names already declared at this point
 */
function withShared(code, shared, declared = []) {
  const known = [...declared];
  const declarationsFor = (piece) =>
    neededBy(piece, shared, [...known])
      .slice(known.length)
      .flatMap((name) => declarationOf(name, shared, known));
  const ofBranches = piecesOf(code)
    .filter(isBranch)
    .flatMap((branch) => neededBy(branch, shared));
  const often = [...new Set(ofBranches)].filter((name) => ofBranches.filter((it) => it === name).length >= OFTEN);
  const always = declarationsFor(`${code}\n${often.join(' ')}`);
  const parts = piecesOf(code).flatMap((piece, i) => {
    if (!isBranch(piece, i)) return piece;
    return withShared(piece, shared, known);
  });
  return [...always, ...parts];
}

/** Declare one name, whose dependencies are already declared, and add it to `known`. */
function declarationOf(name, shared, known) {
  const declaration = shared.get(name);
  const parts = withShared(bodyOf(declaration), shared, [...known, name]);
  known.push(name);
  if (declaration.body !== undefined) return verbAsFunction(name, declaration.params, parts);
  return parts.some(({ use }) => use) ? [...parts, '\n'] : [{ use: name }];
}

const verbAsFunction = (name, params, parts) => [`local function ${name}(${params.join(', ')})\n`, ...parts, 'end\n'];

/** Lua that gives verbs the time. */
const CLOCK = 'local nowMs, nowText, micros = now()\n';

/**
 * Convert a verb to a function for scripts that use several verbs: lua/verbs/ack.lua becomes `ack`. Its parameters are the
 * base, the space, and the arguments of its header. These scripts start by reading the time.
 */
export function verb(file, source) {
  const { args, rest } = inputsOf(source);
  const params = ['base', 'space', ...args, ...(rest ? ['...'] : [])];
  return [basename(file, '.lua'), { params, body: (rest ? `local ${rest} = { ... }\n` : '') + bare(source) }];
}

/** Return the header lines that start with a word, each split into words. */
const header = (source, word) =>
  [...source.matchAll(new RegExp(`^-- ${word} (.+)$`, 'gm'))].map(([, text]) => text.split(/\s+/));

function inputsOf(source) {
  const [keys] = header(source, 'KEYS');
  const [inputs] = header(source, 'ARGV');
  const args = inputs?.filter((input) => !input.endsWith('...'));
  return { keys, args, rest: inputs?.find((input) => input.endsWith('...'))?.slice(0, -3) ?? null };
}

/** Generate Lua that names the inputs of a script. */
function localsFor(keys, args, rest) {
  const lines = [`local ${keys.join(', ')} = ${keys.map((_, i) => `KEYS[${i + 1}]`).join(', ')}`];
  if (args.length > 0) lines.push(`local ${args.join(', ')} = ${args.map((_, i) => `ARGV[${i + 1}]`).join(', ')}`);
  if (rest) lines.push(`local ${rest} = { unpack(ARGV, ${args.length + 1}) }`);
  return `${lines.join('\n')}\n`;
}

/**
 * Compile a script, or the script of a single verb: check it against its header, and add the shared Lua that it uses.
 *
 * @param shared shared Lua by name
 */
export function compile(file, source, shared, isVerb) {
  const fail = (message) => {
    throw new Error(`${file}: ${message}`);
  };
  const inputs = inputsOf(source);
  const { args, rest } = inputs;
  const keys = isVerb ? ['base'] : inputs.keys;
  const replies = header(source, 'REPLY');
  if (!keys || !args || replies.length === 0) fail('the header must have KEYS, ARGV and REPLY');

  const body = bare(source);
  const words = [...replies.map(([word]) => word), ...header(source, 'ERRORS').flat()];
  for (const [, word] of body.matchAll(/return \{ '([A-Z_]+)'/g)) if (!words.includes(word)) fail(`declare ${word}`);
  const own = new Set([...body.matchAll(/local (?:function )?(\w+)/g)].map(([, it]) => it));
  for (const name of own) if (shared.has(name)) fail(`${name} is the name of a shared function`);
  for (const [, called] of body.replaceAll(/'[^']*'/g, '').matchAll(/(?<![.:\w])(\w+)\(/g)) {
    if (!shared.has(called) && !own.has(called) && !BUILT_IN.test(called)) fail(`unknown function ${called}`);
  }
  const head = isVerb ? localsFor(keys, ['space', ...args], rest) + CLOCK : localsFor(keys, args, rest);
  const code = head + body;
  // Verbs use the time.
  const usesVerbs = [...namesIn(code), ...neededBy(code, shared)].some((name) => shared.get(name)?.body !== undefined);
  const parts = usesVerbs
    ? [...withShared(CLOCK, shared), ...withShared(code, shared, ['now'])]
    : withShared(code, shared);
  const isReplicated = /^-- REPLICATED$/m.test(source);
  return { name: basename(file, '.lua'), keys, args, rest, replies, isReplicated, parts, isVerb };
}
