import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release.js';

/** The modules generated from .lua files; the packages do not export them. */
const MODULES = ['packages/store/src/script/scripts.generated.ts', 'packages/fsck/src/scripts.generated.ts'];

/** Return the hashes of a release's scripts, by the names of their files. @param root folder of the release */
export const scriptHashes = (root = ROOT): ReadonlyMap<string, string> =>
  new Map(
    MODULES.flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}name: '(\w+)', sha1: '(\w+)'/gm),
    ]).map(([, name, sha1]) => [name as string, sha1 as string]),
  );

const HASHES = scriptHashes();

/** Whether a proxy must intercept this command, given as its words. */
export type Matcher = (words: string[]) => boolean;

/**
 * Match commands that run a script.
 *
 * @param script name of its file, e.g. `ack`
 * @param about only those with this in one of their words, e.g. the id of a job; default any
 */
export function runs(script: string, about = ''): Matcher {
  const sha1 = HASHES.get(script);
  if (sha1 === undefined) throw new Error(`there is no script ${script}`);
  return ([command, sha, ...rest]) =>
    command?.toLowerCase() === 'evalsha' && sha === sha1 && rest.some((word) => word.includes(about));
}

/** Match runs of any script. */
export const isScript: Matcher = ([command]) => command?.toLowerCase() === 'evalsha';

/** Match commands by their name. @param about as for `runs` */
export function sends(command: string, about = ''): Matcher {
  return ([name, ...rest]) =>
    name?.toLowerCase() === command && (about === '' || rest.some((word) => word.includes(about)));
}

/** Match runs of a script, or commands of that name when there is no such script. */
export const runsOrSends = (name: string, about = '') => (HASHES.has(name) ? runs : sends)(name, about);

const NAMES = new Map([...HASHES].map(([name, sha1]) => [sha1, name]));

/** Return the name of the script that a command runs, or of the command. */
export const nameOfCommand = ([command = '', sha1 = '']: string[]) =>
  command.toLowerCase() === 'evalsha' ? (NAMES.get(sha1) ?? 'unknown script') : command.toLowerCase();
