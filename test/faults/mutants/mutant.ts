import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyRelease, type Release, SCRIPTS } from '../release.js';
import type { PromiseId } from '../rules/rule.js';

/** A change of a compiled file of ours. `from` must stand in it. */
export interface Edit {
  /** From the root: `packages/store/dist/claim.js`. */
  file: string;
  from: string;
  to: string;
}

/** A product that breaks a promise, and a fault under which it does. */
export interface Mutant {
  /** What is wrong with it. */
  title: string;
  edits: readonly Edit[];
  /** The promises that must be said to be broken. */
  breaks: readonly PromiseId[];
  /** Scripts whose replies are lost now and then. Without any, and without a fault, it breaks its promise by itself. */
  loses?: readonly string[];
  /** Name of the fault that must see it, as F19: what it lacks is only needed there. */
  under?: string;
}

/** A mutant that can be started. */
export interface MadeMutant extends Release {
  /** By which Redis knows a script of its. */
  sha1Of(script: string): string;
}

let made = 0;

/** Copy the compiled product and change it. */
export async function makeMutant(edits: readonly Edit[]): Promise<MadeMutant> {
  // Each in a folder of its own: Jest keeps the text of every file that it has read, and the scripts would be hashed as
  // the first mutant had them.
  const release = await copyRelease(`mutant-${++made}`);
  for (const edit of edits) await apply(release.root, edit);
  const hashes = await hashScripts(join(release.root, SCRIPTS));
  return {
    ...release,
    sha1Of(script) {
      const sha1 = hashes.get(script);
      if (sha1 === undefined) throw new Error(`there is no script ${script}`);
      return sha1;
    },
  };
}

async function apply(root: string, { file, from, to }: Edit): Promise<void> {
  const path = join(root, file);
  const text = await readFile(path, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not hold ${from}: the mutant is out of date`);
  await writeFile(path, text.replaceAll(from, to));
}

/** Give each script the hash of its text again. @returns them by the scripts' names */
async function hashScripts(path: string): Promise<Map<string, string>> {
  // Read as the module that it is, for its texts are escaped; by a URL that nobody has imported yet.
  const url = `${pathToFileURL(path).href}?${Date.now()}`;
  const scripts: Record<string, { name: string; sha1: string; text: string }> = await import(url);
  let module = await readFile(path, 'utf8');
  const hashes = new Map<string, string>();
  for (const { name, sha1, text } of Object.values(scripts)) {
    const hash = createHash('sha1').update(text).digest('hex');
    module = module.replace(sha1, hash);
    hashes.set(name, hash);
  }
  await writeFile(path, module);
  return hashes;
}
