// node scripts/lua/module.mjs: compile the .lua files of packages/store and packages/fsck to one module per package, which tsc,
// Jest and the image need. The modules are not committed.
//
// A script is a .lua file next to the TypeScript that runs it. Its header declares its inputs and its replies:
//
//   -- KEYS job                   names of the keys in the script
//   -- ARGV base count names...   arguments; the last can be a list
//   -- REPLY OK seq:number name?  one line per outcome, with the values that follow its word
//   -- ERRORS JOB_NOT_FOUND       error codes that it returns; see run-script.ts
//   -- REPLICATED                 with DURABILITY=replicated, its caller waits for a replica
//
// A value is a text, a `:number` or a `:Status`; with `[]` a list, with `[][]` a list of lists. `?` means that the value, or an
// element of the list, can be null. `...` takes all remaining values. The module has the typed call and the decoder of the reply.
//
// Functions in folders named lua/ are shared: a script contains those that it uses, found by name, and the constants of the
// protocol that it uses.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RECORD_DEFAULTS, STATUSES, TRANSITIONS } from '../../packages/protocol/dist/index.js';
import { compile, declarations, verb } from './compile.mjs';

const root = fileURLToPath(new URL('../../packages/', import.meta.url));
const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const list = (texts) => texts.map(quoted).join(', ');

const luaFiles = (folder) =>
  readdirSync(root + folder, { recursive: true })
    .filter((file) => file.endsWith('.lua'))
    .sort()
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`);
const isShared = (file) => file.includes('/lua/');
const isVerb = (file) => file.includes('/lua/verbs/');
const DEFAULTS = new Map(
  Object.entries(RECORD_DEFAULTS).map(([field, value]) => [
    `DEFAULT_${field.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`,
    `'${value}'`,
  ]),
);
/** Read a file and insert defaults as literals, because a function that captures them would cost Redis more per call. */
const read = (file) =>
  readFileSync(root + file, 'utf8').replaceAll(/\bDEFAULT_[A-Z_]+\b/g, (name) => DEFAULTS.get(name) ?? name);

/** Return the constants that scripts share with TypeScript, by name. */
function constants() {
  const after = { callback_sent: '', callback_failed: '' };
  for (const { event, to } of TRANSITIONS) if (event !== null) after[event] = `${after[event] ?? ''} ${to}`;
  const pairs = Object.entries(after).map(([event, statuses]) => `${event} = ${quoted(statuses.trim())}`);
  return [
    ['STATUSES', `local STATUSES = { ${list(STATUSES)} }`],
    ['IS_STATUS', `local IS_STATUS = { ${STATUSES.map((status) => `${status} = true`).join(', ')} }`],
    // Statuses that a job can have after an event, separated by blanks; none for a callback.
    ['STATUS_AFTER', `local STATUS_AFTER = { ${pairs.join(', ')} }`],
  ];
}

/** Generate TypeScript that decodes one value of a reply, such as `updatedAt:number?` at 7. */
function decoded(value, at) {
  const [, name, type = 'string', isNullable, isList, isRest] = /^(\w+)(?::(\w+))?(\?)?((?:\[\])*)(\.\.\.)?$/.exec(
    value,
  );
  const raw = isRest ? `r.slice(${at})` : `r[${at}]`;
  const element = isNullable ? `(${type} | null)` : type;
  if (type !== 'number') return `${name}: ${raw} as ${element}${isList}${isRest ? '[]' : ''}`;
  if (isList) return `${name}: (${raw} as unknown[]).map(Number)`;
  return isNullable ? `${name}: ${raw} === null ? null : Number(${raw})` : `${name}: Number(${raw})`;
}

/** Generate TypeScript that decodes the replies of a script, each of which starts with the word of its outcome. */
function decoder(replies) {
  const cases = replies.map(([word, ...values]) => {
    const outcome = replies.length > 1 ? [`outcome: '${word}' as const`] : [];
    const fields = [...outcome, ...values.map((value, i) => decoded(value, i + 1))];
    return { word, object: fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}' };
  });
  const last = cases.pop();
  const tests = cases.map(({ word, object }) => `r[0] === '${word}' ? ${object} : `).join('');
  const code = tests + last.object;
  return `(${/\br[[.]/.test(code) ? 'r: unknown[]' : ''}) => (${code})`;
}

/** Generate TypeScript that puts the keys and arguments of a script in order. */
function parameters(keys, args, rest) {
  const record = (names, type) => `{ ${names.map((name) => `${name}: ${type}`).join('; ')} }`;
  const inputs = [
    ['keys', keys.length > 0, record(keys, 'string')],
    ['args', args.length > 0, record(args, 'ScriptArgument')],
    ['rest', rest !== null, 'readonly ScriptArgument[]'],
  ].filter(([, isUsed]) => isUsed);
  const names = inputs.map(([name]) => name).join(', ');
  const types = inputs.map(([name, , type]) => `${name}: ${type}`).join('; ');
  const values = [
    ...keys.map((key) => `keys.${key}`),
    ...args.map((arg) => `args.${arg}`),
    ...(rest === null ? [] : ['...rest']),
  ];
  return `({ ${names} }: { ${types} }): ScriptArgument[] => [${values.join(', ')}]`;
}

const escaped = (text) => text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${');

function entry({ name, keys, args, rest, replies, isReplicated, parts, isVerb }, imported) {
  const packageOf = (use) => (imported.has(use) ? 'store' : 'lua');
  const template = parts
    .map((part) => (part.use ? `\${${packageOf(part.use)}.${part.use}}\\n` : escaped(part)))
    .join('');
  return `export const ${name} = {
  name: '${name}',
  keyCount: ${keys.length},
  parameters: ${parameters(
    isVerb ? [] : keys,
    args.filter((arg) => !isVerb || arg !== 'notAfter'),
    rest,
  )},${isVerb ? `\n  hasDeadline: ${args[0] === 'notAfter'},` : ''}
  isReplicated: ${isReplicated},
  decode: ${decoder(replies)},
  text: \`${template}\`,
} as const;
`;
}

const sharedOf = (folder) =>
  luaFiles(folder)
    .filter((file) => isShared(file) && !isVerb(file))
    .flatMap((file) => declarations(read(file)));

/** Insert the verbs into the script that dispatches to them, each in a branch, so that an unused verb costs nothing. */
const withVerbs = (source, verbs) =>
  source.replace(
    /^local verbs\b.*\n/m,
    (line) =>
      line +
      verbs.map(([name]) => `if string.find(used, '${name}', 1, true) then\n  verbs.${name} = ${name}\nend\n`).join(''),
  );

/**
 * Generate the module of a package.
 *
 * @param ofStore shared Lua of the store, for a package that imports it
 */
function generate(folder, own, ofStore = []) {
  const imported = new Map(ofStore);
  const twice = own.find(([name]) => imported.has(name));
  if (twice) throw new Error(`packages/${folder} declares ${twice[0]}, which the store also declares`);
  const files = luaFiles(folder).filter((file) => !isShared(file) || isVerb(file));
  const verbs = files.filter(isVerb).map((file) => verb(file, read(file)));
  const shared = new Map([...ofStore, ...own, ...verbs]);
  const scripts = files.map((file) => compile(file, withVerbs(read(file), verbs), shared, isVerb(file)));
  const usesStatus = scripts.some(({ replies }) => replies.flat().some((value) => value.includes(':Status')));
  const textsOf = (declared) => [...declared].map(([name, code]) => `  ${name}: \`${escaped(code)}\`,\n`).join('');
  return `// Made by scripts/lua/module.mjs from the .lua files of packages/${folder}. Do not edit: edit those, and build.
${usesStatus ? "import type { Status } from '@yardmaster/protocol';\n" : ''}${ofStore.length > 0 ? "import { lua as store, type ScriptArgument } from '@yardmaster/store';\n" : "import type { ScriptArgument } from './script.js';\n"}
/** Shared Lua, by name. */
export const lua = {
${textsOf(own)}};
${scripts.map((script) => entry(script, imported)).join('\n')}`;
}

const store = [...constants(), ...sharedOf('store/src')];
const modules = [
  ['store/src/script/scripts.generated.ts', generate('store/src', store)],
  ['fsck/src/scripts.generated.ts', generate('fsck/src', sharedOf('fsck/src'), store)],
];
for (const [file, generated] of modules) {
  let current = '';
  try {
    current = read(file);
  } catch {
    // The file does not exist yet.
  }
  // Do not touch an unchanged file, or tsc would rebuild.
  if (current === generated) continue;
  writeFileSync(root + file, generated);
}
