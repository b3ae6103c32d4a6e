// Bundle each process and the CLI into one file, for tests: a process then needs half the CPU time to start, because it loads
// one module instead of 300 to 1,000. Releases are not bundled, because image scanners find packages by folder; the suites of
// the image, the chart and the topology run the unbundled code.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { replaceFile } from './replace-file.mjs';

const root = fileURLToPath(new URL('../', import.meta.url));
const APPS = ['api', 'gateway', 'scheduler', 'standalone', 'cli'];

/** CommonJS packages require modules of Node. */
const banner = {
  js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
};

/** Keep the URL of each module, because some read files next to them. */
const keepAddresses = {
  name: 'keep-addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\/(apps|packages)\/[^/]+\/dist\/.*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    }));
  },
};

/**
 * Bundle the compiled apps.
 *
 * @returns the folder, with a file `<app>.mjs` per app
 */
export async function bundleApps() {
  const folder = `${root}.cache/bundles/`;
  const { outputFiles } = await build({
    entryPoints: APPS.map((app) => ({ in: `${root}apps/${app}/dist/main.js`, out: app })),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: ['bufferutil', 'utf-8-validate'], // ws works without them.
    plugins: [keepAddresses],
    banner,
    write: false,
    logLevel: 'warning',
  });
  for (const { path, contents } of outputFiles) replaceFile(path, contents);
  return folder;
}

if (basename(process.argv[1] ?? '') === 'bundle.mjs') process.stdout.write(`${await bundleApps()}\n`);
