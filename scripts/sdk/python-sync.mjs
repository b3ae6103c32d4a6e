// Generate the synchronous client of the Python SDK from the asynchronous one, as httpcore does.
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../set-up.mjs';

const PACKAGE = 'sdk/python/src/yardmaster/';
const HEADER = (file) => `# Generated from _async/${file} by scripts/sdk/wire.mjs; do not edit.\n`;

/** Replacements from asynchronous to synchronous code. ruff checks the rest, such as the length of lines. */
const REPLACEMENTS = [
  [/\basync (def|for|with)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsync(Generator\[[^\]]*), None\]/g, '$1, None, None]'],
  [/\bAsync(?=[A-Z])/g, ''],
  [/\bfor (\w+) in (.+):\n +yield \1\n/g, 'yield from $2\n'],
  [/\b__a(enter|exit)__\b/g, '__$1__'],
  [/\ba(read|closing|iter_bytes)\b/g, '$1'],
  [/\bimport asyncio\n(?=[\s\S]*\bimport time\n)/g, ''],
  [/\bimport asyncio\n/g, 'import time\n'],
  [/\basyncio\.sleep\b/g, 'time.sleep'],
  [/\bevent loops\b/g, 'threads'],
];

const syncOf = (text) => REPLACEMENTS.reduce((all, [pattern, other]) => all.replace(pattern, other), text);

/** Return the text of each synchronous module, by path. */
export function pythonSync() {
  const files = readdirSync(`${root}${PACKAGE}_async`).filter((file) => file.endsWith('.py'));
  const textOf = (file) => HEADER(file) + syncOf(readFileSync(`${root}${PACKAGE}_async/${file}`, 'utf8'));
  return Object.fromEntries(files.map((file) => [`${PACKAGE}_sync/${file}`, textOf(file)]));
}
