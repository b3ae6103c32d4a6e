import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release.js';

/** The modules that are generated from the .lua files; the packages do not export them. */
const MODULES = ['packages/store/src/script/scripts.generated.ts', 'packages/fsck/src/scripts.generated.ts'];

/** Hashes by which Redis knows the scripts of a release, by the names of their files. @param root folder of the release */
export const scriptHashes = (root = ROOT): ReadonlyMap<string, string> =>
  new Map(
    MODULES.flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}name: '(\w+)', sha1: '(\w+)'/gm),
    ]).map(([, name, sha1]) => [name as string, sha1 as string]),
  );

const HASHES = scriptHashes();

/** Whether these words are a command, for a proxy. */
export type Matcher = (words: string[]) => boolean;

/**
 * Recognise commands that run a script.
 *
 * @param script as its file is called, e.g. `ack`
 * @param about only those with this in one of their words, e.g. the id of a job; default any
 */
export function runs(script: string, about = ''): Matcher {
  const sha1 = HASHES.get(script);
  if (sha1 === undefined) throw new Error(`there is no script ${script}`);
  return ([command, sha, ...rest]) =>
    command?.toLowerCase() === 'evalsha' && sha === sha1 && rest.some((word) => word.includes(about));
}

/** Recognise runs of any script. */
export const isScript: Matcher = ([command]) => command?.toLowerCase() === 'evalsha';

/** Recognise commands by their name. @param about as for `runs` */
export function sends(command: string, about = ''): Matcher {
  return ([name, ...rest]) =>
    name?.toLowerCase() === command && (about === '' || rest.some((word) => word.includes(about)));
}

/** Recognise runs of a script, or commands of that name when there is no such script. */
export const runsOrSends = (name: string, about = '') => (HASHES.has(name) ? runs : sends)(name, about);
const NAMES = new Map([...HASHES].map(([name, sha1]) => [sha1, name]));

/** The name of the script that a command runs, or of the command. */
export const nameOfCommand = ([command = '', sha1 = '']: string[]) =>
  command.toLowerCase() === 'evalsha' ? (NAMES.get(sha1) ?? 'unknown script') : command.toLowerCase();
