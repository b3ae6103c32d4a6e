// Stryker's mutators, made to measure: draws mutants from sources, and places those that were drawn.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('../../.cache/mutation/stryker/', import.meta.url));
const VERSION = '9.6.1';

/** Installed apart, for none but this suite needs it. */
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

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Draw mutants of some sources, and give the sources with all of them in it, each behind a switch.
 *
 * @param sources `{ name, content }`, the name from the root of the repository
 * @returns `files` to write, `mutants` with the `id` of each one's switch and a `key` that tells of it, and how many there are in `all`
 */
export async function instrument(sources, count, seed) {
  const instrumenter = await load();
  const whole = await instrumenter.instrument(
    sources.map((source) => ({ ...source, mutate: true })),
    OPTIONS,
  );
  const random = randomOf(seed);
  const drawn = whole.mutants
    .map((mutant) => ({ mutant, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, count)
    .map(({ mutant }) => mutant);
  const chosen = sources.flatMap((source) => {
    const ranges = drawn.filter(({ fileName }) => fileName === source.name).map(({ location }) => location);
    return ranges.length === 0 ? [] : [{ ...source, mutate: ranges }];
  });
  const { files, mutants } = await instrumenter.instrument(chosen, OPTIONS);
  const ids = new Map(mutants.map((mutant) => [keyOf(mutant), mutant.id]));
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
