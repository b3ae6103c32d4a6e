import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Who waits for which reply of Redis, as the sources say it: from the verbs that a route or a process names, through the
// functions of the store, to scripts and commands. Functions at the top of a file, and the methods of KeyRing, are found by
// their indentation, which the formatter sees to; a name is one of the same file, or one that the file imports.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const STORE = 'packages/store/src';

/** Says what a function has Redis do. */
const RUNS = /runScript\(\s*(?:onBulk\(store\)|(?:checked\.)?store),\s*(\w+)|\bask\(\s*store,\s*'(\w+)'/g;

/** A name that may be a function's; of a method, with whose it is. */
const NAMES = /\b(?:keyRing|this)\.#?\w+(?=\()|\b\w+\b/g;

/** How functions are written, each from its name to its end. */
const FORMS: readonly [prefix: string, form: RegExp][] = [
  ['', /^(?:export )?(?:async )?function (\w+)[\s\S]*?^\}/gm],
  ['', /^(?:export )?const (\w+) = [\s\S]*?;\n(?=\n?\S|$)/gm],
  ['this.', /^ {2}(?:async )?(#?\w+)\(.*\{\n[\s\S]*?^ {2}\}/gm],
];

interface Source {
  /** Text of each function by its name; of a method, `this.` and its name. */
  functions: Map<string, string>;
  /** Files that names come from. */
  imports: Map<string, string>;
}

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .map((name) => `${folder}/${name}`);
}

function functionsOf(text: string): Source['functions'] {
  const found: Source['functions'] = new Map();
  for (const [prefix, form] of FORMS)
    for (const [code, name] of text.matchAll(form)) found.set(`${prefix}${name}`, code);
  return found;
}

function importsOf(file: string, text: string): Source['imports'] {
  const found: Source['imports'] = new Map();
  for (const [, names = '', from = ''] of text.matchAll(/^import \{([^}]*)\} from '(\.[^']*)\.js';$/gm))
    for (const name of names.match(/\w+/g) ?? []) found.set(name, join(dirname(file), `${from}.ts`));
  return found;
}

const SOURCES = new Map<string, Source>(
  filesOf(STORE).map((file) => {
    const text = textOf(file);
    return [file, { functions: functionsOf(text), imports: importsOf(file, text) }];
  }),
);

/** Where a verb of the store is. */
const fileOfVerb = new Map(
  filesOf(STORE).flatMap((file) =>
    [...textOf(file).matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => [name as string, file]),
  ),
);
const KEY_RING = `${STORE}/key-ring.ts`;

function runsOf(name: string, file: string, seen: Set<string>): string[] {
  const source = SOURCES.get(file);
  const text = source?.functions.get(name);
  if (source === undefined || text === undefined || seen.has(`${file} ${name}`)) return [];
  seen.add(`${file} ${name}`);
  const own = [...text.matchAll(RUNS)].map(([, script, command]) => (script ?? command) as string);
  const others = [...new Set(text.match(NAMES))].flatMap((other) =>
    runsOf(other, source.imports.get(other) ?? file, seen),
  );
  return [...own, ...others];
}

/** What a verb of the store, or a method of a `keyRing`, has Redis do: scripts by name, else commands. */
export function runsOfVerb(verb: string): Set<string> {
  const [, method] = /^keyRing\.(\w+)$/.exec(verb) ?? [];
  const file = method ? KEY_RING : (fileOfVerb.get(verb) ?? '');
  return new Set(runsOf(method ? `this.${method}` : verb, file, new Set()));
}

/** The same of all verbs that a text names. */
const runsOfText = (text: string) => new Set([...new Set(text.match(NAMES))].flatMap((name) => [...runsOfVerb(name)]));

/** What each route has Redis do once its caller is known, by its operation. */
export function runsOfRoutes(): Map<string, Set<string>> {
  const rows = textOf('apps/api/src/routes.ts')
    .split(/^ {2}route\(\{$/m)
    .slice(1);
  return new Map(
    rows.map((row) => [
      /operation: '(\w+)'/.exec(row)?.[1] as string,
      runsOfText(row.slice(row.search(/^ {4}run: /m))),
    ]),
  );
}

/** What the sources in a folder have Redis do: by the verbs that they import, and what they ask a `keyRing`. */
export function runsOfFolder(folder: string): Set<string> {
  const found = new Set<string>();
  for (const text of filesOf(folder).map(textOf)) {
    const [, imported = ''] = /^import \{([^}]*)\} from '@yardmaster\/store';$/m.exec(text) ?? [];
    const asked = text.match(/\bkeyRing\.\w+(?=\()/g) ?? [];
    for (const run of runsOfText(`${imported} ${asked.map((call) => `${call}()`)}`)) found.add(run);
  }
  return found;
}

/** The scripts that the sources in a folder run themselves. */
export function scriptsIn(folder: string): Set<string> {
  const texts = filesOf(folder).map(textOf);
  return new Set(texts.flatMap((text) => [...text.matchAll(RUNS)].map(([, script]) => script ?? '')));
}

/** Names of all scripts, by their files. */
export const scriptFiles = (): string[] =>
  readdirSync(join(ROOT, 'packages/store/lua'))
    .filter((name) => name.endsWith('.lua'))
    .map((name) => name.replace('.lua', ''));
