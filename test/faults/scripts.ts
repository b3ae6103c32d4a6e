import { readFileSync } from 'node:fs';

/** The module that the .lua files are made into; the store does not export it, since nobody else has any use for it. */
const MODULE = new URL('../../packages/store/src/scripts.generated.ts', import.meta.url);

const SHA1S = new Map(
  [...readFileSync(MODULE, 'utf8').matchAll(/^ {2}name: '(\w+)',\n {2}sha1: '(\w+)'/gm)].map(([, name, sha1]) => [
    name as string,
    sha1 as string,
  ]),
);

/** Names of all scripts, as their files are called. */
export const SCRIPT_NAMES: readonly string[] = [...SHA1S.keys()];

/**
 * Tell commands that run a script, for a proxy.
 *
 * @param script as its file is called, e.g. `ack`
 * @param about only those with this in one of their words, e.g. the id of a job; default any
 */
export function runs(script: string, about = ''): (words: string[]) => boolean {
  const sha1 = SHA1S.get(script);
  if (sha1 === undefined) throw new Error(`there is no script ${script}`);
  return ([command, sha, ...rest]) =>
    command?.toLowerCase() === 'evalsha' && sha === sha1 && rest.some((word) => word.includes(about));
}

/**
 * Tell commands of a name, for a proxy; those within scripts nobody sees.
 *
 * @param about as for `runs`
 */
export function sends(command: string, about = ''): (words: string[]) => boolean {
  return ([name, ...rest]) =>
    name?.toLowerCase() === command && (about === '' || rest.some((word) => word.includes(about)));
}

/** Tell the runs of a script, or a command of that name where there is no such script. */
export const runsOrSends = (name: string, about = '') => (SHA1S.has(name) ? runs : sends)(name, about);
