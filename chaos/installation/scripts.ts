import { join } from 'node:path';
import { createStore, type StoreSettings, textOn } from '@yardmaster/store';
import { ROOT } from './release.js';

/** Modules generated from .lua files, which the packages do not export. */
const MODULES = ['packages/store/dist/script/scripts.generated.js', 'packages/fsck/dist/scripts.generated.js'];

/** Names of scripts by hash, for all releases and settings that processes were started with. */
const names = new Map<string, string>();

/** Learn the hashes of a release's scripts, whose texts contain these settings. @param root folder of the release */
export async function learnScripts(settings: Partial<StoreSettings> = {}, root = ROOT): Promise<void> {
  const store = createStore(null as never, settings);
  for (const file of MODULES) {
    const module = (await import(join(root, file))) as Record<string, { name?: string; text: string }>;
    for (const script of Object.values(module)) {
      if (script.name !== undefined) names.set(textOn(store, script).sha1, script.name);
    }
  }
}
await learnScripts();

/** Return the names of the scripts. */
export const scriptNames = () => [...new Set(names.values())];

/** Predicate on a command, given as its words, that a proxy must intercept. */
export type Matcher = (words: string[]) => boolean;

/**
 * Match commands that run a script, or a group with a verb.
 *
 * @param script file name of the script, such as `ack`
 * @param about text that one of the words must contain, such as a job ID. Default any
 */
export function runs(script: string, about = ''): Matcher {
  if (!scriptNames().includes(script)) throw new Error(`unknown script ${script}`);
  return (words) => {
    const [, , , , , used] = words; // evalsha, hash, number of keys, key, isOfOne, verbs of the group
    const name = nameOfCommand(words);
    const isIt = name === script || (name === 'group' && (used as string).split(' ').includes(script));
    return isIt && words.slice(2).some((word) => word.includes(about));
  };
}

/** Match runs of any script. */
export const isScript: Matcher = ([command]) => command?.toLowerCase() === 'evalsha';

/** Match commands by name. @param about as for `runs` */
export function sends(command: string, about = ''): Matcher {
  return ([name, ...rest]) =>
    name?.toLowerCase() === command && (about === '' || rest.some((word) => word.includes(about)));
}

/** Match runs of a script or, if there is no such script, commands with that name. */
export const runsOrSends = (name: string, about = '') => (scriptNames().includes(name) ? runs : sends)(name, about);

/** Return the name of the script that a command runs, or else of the command. */
export const nameOfCommand = ([command = '', sha1 = '']: string[]) =>
  command.toLowerCase() === 'evalsha' ? (names.get(sha1) ?? 'unknown script') : command.toLowerCase();
