// Pack the CLI as the npm package yardmaster: node scripts/cli/pack.mjs [folder]
// The package has one bundled file and no dependencies. It excludes fsck, which needs the store and Redis.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { root, run, setUp } from '../set-up.mjs';

const target = resolve(process.argv[2] ?? `${root}.cache/cli`);
const staging = join(target, 'package');
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

setUp('apps/cli');
rmSync(staging, { recursive: true, force: true });
mkdirSync(join(staging, 'bin'), { recursive: true });

const { metafile } = await build({
  entryPoints: [`${root}apps/cli/dist/main.js`],
  outfile: join(staging, 'bin/yardmaster.mjs'),
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  alias: {
    '@yardmaster/fsck': `${root}scripts/cli/without-redis.mjs`,
    yaml: `${root}node_modules/yaml/browser/index.js`, // It lacks modules that the CLI does not use: 60 KB less.
  },
  plugins: [{ name: 'without-locales', setup: leaveOutLocales }],
  // Optional dependencies of ws.
  external: ['bufferutil', 'utf-8-validate'],
  // commander and ws are CommonJS, and require Node.js modules.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
  legalComments: 'none', // The licenses are in a separate file.
  metafile: true,
  absWorkingDir: root,
  logLevel: 'warning',
});

const { version, license, engines } = read(`${root}apps/cli/package.json`);
const { repository } = read(`${root}package.json`);
const manifest = {
  name: 'yardmaster',
  version,
  description: 'Command line of Yardmaster, a job queue over HTTP: create jobs, watch them, and work on them.',
  license,
  repository: { ...repository, directory: 'apps/cli' },
  type: 'module',
  engines,
  bin: { yardmaster: 'bin/yardmaster.mjs' },
  files: ['bin', 'THIRD-PARTY-LICENSES.txt'],
};
writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
writeFileSync(join(staging, 'THIRD-PARTY-LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)));
copyFileSync(`${root}LICENSE`, join(staging, 'LICENSE'));
copyFileSync(`${root}scripts/cli/README.md`, join(staging, 'README.md'));
run('npm', ['pack', '--silent', '--pack-destination', target], { cwd: staging });

/** Keep only the English error texts of zod. The other languages would be a third of the bundle. */
function leaveOutLocales({ onResolve, onLoad }) {
  onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: 'without-locales' }));
  onLoad({ filter: /.*/, namespace: 'without-locales' }, () => ({ contents: 'export {}' }));
}

/** Return the license of each bundled package. All of these licenses must be included. */
function licensesOf(files) {
  const folders = new Set(files.map((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]));
  folders.delete(undefined);
  const texts = [...folders].sort().map((folder) => {
    const { name, version: theirs, license: id } = read(join(root, folder, 'package.json'));
    const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined || !existsSync(join(root, folder, file))) throw new Error(`${name} has no license`);
    return `${name} ${theirs} (${id})\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
