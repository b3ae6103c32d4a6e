import { execFile } from 'node:child_process';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { transform } from '@swc/core';
import { until } from '../../test/support/until.js';
import type { AppProcess } from '../installation/app-process.js';
import { copyRelease, type Release, ROOT } from '../installation/release.js';
import { type Matcher, runs } from '../installation/scripts.js';
import type { PromiseId } from '../rules/rule.js';
import { type Fault, faultNamed } from './fault.js';
import { repeat, within } from './waiting.js';

const run = promisify(execFile);

/** Folder of the patches. FAULT_MUTANTS overrides it. */
const FOLDER = resolve(ROOT, process.env.FAULT_MUTANTS ?? 'chaos/mutants');

/** A patch of the sources that breaks a promise. */
export type Mutant = Awaited<ReturnType<typeof readMutant>>;

/** Read all mutants, ordered by name. */
export async function allMutants(): Promise<Mutant[]> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.patch')).sort();
  return Promise.all(files.map(readMutant));
}

async function readMutant(fileName: string) {
  const file = join(FOLDER, fileName);
  const text = await readFile(file, 'utf8');
  const header = (key: string) => new RegExp(`^# ${key}: (.+)$`, 'm').exec(text)?.[1];
  return {
    name: fileName.replace('.patch', ''),
    file,
    title: header('title') ?? '',
    breaks: (header('breaks')?.split(' ') ?? []) as PromiseId[], // Promises that must be reported as broken.
    /** Scripts whose replies are lost repeatedly. Without these and `under`, the patch alone breaks its promises. */
    loses: header('loses')?.split(' ') ?? [],
    under: header('under') ?? null, // Fault during which it must be noticed; null for none.
    sources: [...text.matchAll(/^\+\+\+ b\/(.+\.ts)$/gm)].map(([, path]) => path as string),
  };
}

/** Check that the patch applies to the sources. @returns the error; empty if it applies */
export const staleness = ({ file }: Mutant): Promise<string> =>
  run('git', ['apply', '--check', file], { cwd: ROOT }).then(
    () => '',
    ({ stderr }) => stderr,
  );

/** Copy the release with its sources, patch the copy, and compile the changed files. */
export async function makeMutant({ file, name, sources }: Mutant): Promise<Release> {
  const release = await copyRelease(`mutant-${name}`, ['src']);
  const { root } = release;
  const generator = 'scripts/lua/module.mjs';
  await cp(join(ROOT, 'scripts/lua'), join(root, 'scripts/lua'), { recursive: true });
  await run('git', ['apply', `--directory=${relative(ROOT, root)}`, file], { cwd: ROOT });
  await run(process.execPath, [join(root, generator)]);
  for (const path of [...sources, 'packages/store/src/script/scripts.generated.ts']) await compile(root, path);
  return release;
}

/** Compile a source as Jest does, without type checks. */
async function compile(root: string, path: string): Promise<void> {
  const typescript = { target: 'es2023', parser: { syntax: 'typescript' } } as const;
  const source = await readFile(join(root, path), 'utf8');
  const { code } = await transform(source, { jsc: typescript, module: { type: 'es6' } });
  await writeFile(join(root, path.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), code);
}

/** How long the drain may make no progress, for a mutant alone and during a fault, milliseconds. */
const DRAIN_MS = 8_000;
const DRAIN_UNDER_MS = 20_000;
const EVERY_MS = 150; // Interval of lost replies per process.
const NEXT_MS = 1_000; // How long to wait for the next command.
const ENOUGH = 40; // Lost replies, so that some affect jobs with a callback or with steps.
const ENOUGH_WITHIN_MS = 120_000;

/** Return the fault for the run of a mutant. */
export async function faultFor(mutant: Mutant, { root }: Release): Promise<Fault> {
  if (mutant.under === null) return ownFault(mutant, root);
  const fault = await faultNamed(mutant.under);
  return { ...fault, installation: { ...fault.installation, root }, drainMs: DRAIN_UNDER_MS };
}

/** Create a fault that loses replies to the mutant's scripts, or does nothing. */
function ownFault({ title, breaks: promises, loses }: Mutant, root: string): Fault {
  const isOne = (words: string[]) => loses.some((script) => runs(script)(words));
  const quiet = { name: 'F0', title, promises, lastsMs: 3_000, installation: { root }, drainMs: DRAIN_MS } as const;
  if (loses.length === 0) return { ...quiet, stops: [], inject: async () => undefined };
  return {
    ...quiet,
    stops: ['redis'],
    async inject({ installation: { apis } }) {
      let lost = 0;
      const loseOne = (api: AppProcess) => async () => {
        if (await loseNext(api, isOne)) lost++;
      };
      const ends = apis.map((api) => repeat(EVERY_MS, loseOne(api)));
      return () => until(() => lost >= ENOUGH, ENOUGH_WITHIN_MS).finally(() => Promise.all(ends.map((end) => end())));
    },
  };
}

/** Lose the reply to the next matching command. @returns whether one was sent in time */
export async function loseNext({ proxy }: AppProcess, to: Matcher): Promise<boolean> {
  const lost = proxy.intercept(to, { action: 'lose reply', end: 'cut' });
  await within(NEXT_MS, lost.happened);
  lost.cancel();
  return lost.at !== null;
}
