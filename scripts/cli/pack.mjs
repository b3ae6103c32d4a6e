// Build the npm package yardmaster, the CLI without a clone: node scripts/cli/pack.mjs [folder]
// It is one bundled file without dependencies. It omits fsck, which needs the store and Redis.
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
    yaml: `${root}node_modules/yaml/browser/index.js`, // Omits parts that the CLI doesn't use; saves 60 KB.
  },
  plugins: [{ name: 'without-locales', setup: leaveOutLocales }],
  // Optional dependencies of ws, which works without them.
  external: ['bufferutil', 'utf-8-validate'],
  // commander and ws are CommonJS and call require for Node.js modules.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  },
  legalComments: 'none', // The licenses have their own file.
  metafile: true,
  absWorkingDir: root,
  logLevel: 'warning',
});

const { version, license, engines } = read(`${root}apps/cli/package.json`);
const { repository } = read(`${root}package.json`);
const manifest = {
  name: 'yardmaster',
  version,
  description:
    'CLI of Yardmaster, a job queue with an HTTP API: create jobs, watch them, and run them with any program.',
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

/** Omit zod's error messages in languages other than English, which would be a third of the bundle. */
function leaveOutLocales({ onResolve, onLoad }) {
  onResolve({ filter: /\/locales\/index\.js$/ }, ({ path }) => ({ path, namespace: 'without-locales' }));
  onLoad({ filter: /.*/, namespace: 'without-locales' }, () => ({ contents: 'export {}' }));
}

/** Return the license texts of all bundled packages, which must accompany their code. */
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
