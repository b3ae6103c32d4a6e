// Draws mutants from sources with Stryker's instrumenter, and inserts them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';

const folder = fileURLToPath(new URL('../../.cache/mutation/stryker/', import.meta.url));
const VERSION = '9.6.1';

/** Load the instrumenter, which is installed apart because only this suite needs it. */
async function load() {
  const manifest = `${folder}node_modules/@stryker-mutator/instrumenter/package.json`;
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).version !== VERSION) {
    mkdirSync(folder, { recursive: true });
    const packages = [`@stryker-mutator/instrumenter@${VERSION}`];
    execFileSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', ...packages]);
  }
  const require = createRequire(manifest);
  const { Instrumenter } = await import(pathToFileURL(require.resolve('@stryker-mutator/instrumenter')));
  const log = { debug() {}, info() {}, isDebugEnabled: () => false };
  return new Instrumenter(log);
}

const OPTIONS = { plugins: null, excludedMutations: [], ignorers: [], noHeader: false };
const keyOf = ({ fileName, location: { start, end }, mutatorName, replacement }) =>
  `${fileName}:${start.line + 1}:${start.column + 1}-${end.line + 1}:${end.column + 1} ${mutatorName}: ${replacement}`;

/**
 * Draw mutants, and return the changed sources with every drawn mutant behind a switch.
 *
 * @param sources `{ name, content }`, the name from the root of the repository
 * @returns `files` to write; `mutants`, each with the `id` of its switch, a readable `key` and its source `line`; and `all`,
 *   the number of mutants before the draw
 */
export async function instrument(sources, count, seed) {
  const instrumenter = await load();
  const whole = await instrumenter.instrument(
    sources.map((source) => ({ ...source, mutate: true })),
    OPTIONS,
  );
  const some = fc.shuffledSubarray(whole.mutants, { minLength: count, maxLength: count });
  const [drawn] = fc.sample(some, { seed, numRuns: 1 });
  const chosen = sources.flatMap((source) => {
    const ranges = drawn.filter(({ fileName }) => fileName === source.name).map(({ location }) => location);
    return ranges.length === 0 ? [] : [{ ...source, mutate: ranges }];
  });
  const { files, mutants } = await instrumenter.instrument(chosen, OPTIONS);
  const ids = new Map(mutants.map((mutant) => [keyOf(mutant), mutant.id]));
  const lost = drawn.find((mutant) => !ids.has(keyOf(mutant)));
  if (lost !== undefined) throw new Error(`no switch for ${keyOf(lost)}`);
  const originals = new Map(sources.map(({ name, content }) => [name, content.split('\n')]));
  return {
    files,
    all: whole.mutants.length,
    mutants: drawn.map((mutant) => ({
      id: ids.get(keyOf(mutant)),
      key: keyOf(mutant),
      line: originals.get(mutant.fileName)[mutant.location.start.line].trim(),
    })),
  };
}
