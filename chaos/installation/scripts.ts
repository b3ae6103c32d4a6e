import { join } from 'node:path';
import { createStore, type StoreSettings, textOn } from '@yardmaster/store';
import { ROOT } from './release.js';

/** The modules generated from .lua files; the packages do not export them. */
const MODULES = ['packages/store/dist/script/scripts.generated.js', 'packages/fsck/dist/scripts.generated.js'];

/** Names of scripts by their hashes: those of all releases and settings that processes were started with. */
const names = new Map<string, string>();

/** Learn the hashes of the scripts of a release with these settings, which stand in their texts. @param root its folder */
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

/** Whether a proxy must intercept this command, given as its words. */
export type Matcher = (words: string[]) => boolean;

/**
 * Match commands that run a script, or a group with a verb.
 *
 * @param script name of its file, e.g. `ack`
 * @param about only those with this in one of their words, e.g. the id of a job; default any
 */
export function runs(script: string, about = ''): Matcher {
  if (!scriptNames().includes(script)) throw new Error(`there is no script ${script}`);
  return (words) => {
    const [, , , , , used] = words; // evalsha, hash, number of keys, key, isOfOne, verbs of the group
    const name = nameOfCommand(words);
    const isIt = name === script || (name === 'group' && (used as string).split(' ').includes(script));
    return isIt && words.slice(2).some((word) => word.includes(about));
  };
}

/** Match runs of any script. */
export const isScript: Matcher = ([command]) => command?.toLowerCase() === 'evalsha';

/** Match commands by their name. @param about as for `runs` */
export function sends(command: string, about = ''): Matcher {
  return ([name, ...rest]) =>
    name?.toLowerCase() === command && (about === '' || rest.some((word) => word.includes(about)));
}

/** Match runs of a script, or commands of that name when there is no such script. */
export const runsOrSends = (name: string, about = '') => (scriptNames().includes(name) ? runs : sends)(name, about);

/** Return the name of the script that a command runs, or of the command. */
export const nameOfCommand = ([command = '', sha1 = '']: string[]) =>
  command.toLowerCase() === 'evalsha' ? (names.get(sha1) ?? 'unknown script') : command.toLowerCase();
