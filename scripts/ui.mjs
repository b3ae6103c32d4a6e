// Bundle the dashboard of apps/ui into apps/ui/dist/site: index.html, and files in assets/ whose names contain a hash of
// their content, so that browsers may keep them for ever. Paths are relative, so that the pages work below any path.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The licence of the packages in the bundle asks for this notice in every copy. */
const LICENSES = '/*! Preact and @preact/signals: MIT License, Copyright (c) Jason Miller and Preact Team */';

const ui = fileURLToPath(new URL('../apps/ui/', import.meta.url));

/** Bundle the dashboard. */
export async function bundleUi() {
  const site = `${ui}dist/site/`;
  rmSync(site, { recursive: true, force: true });
  mkdirSync(site, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ui,
    entryPoints: { app: 'src/main.tsx', style: 'src/style/style.css', icon: 'src/icon.svg' },
    outdir: 'dist/site/assets',
    entryNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    minify: true,
    banner: { js: LICENSES },
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    logLevel: 'warning',
  });
  const nameOf = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [entryPoint, `assets/${basename(path)}`]),
  );
  const template = readFileSync(`${ui}src/index.html`, 'utf8');
  writeFileSync(
    `${site}index.html`,
    template.replace(/(?<=(?:href|src)=")[^"]+/g, (path) => {
      const name = nameOf.get(`src/${path}`);
      if (name === undefined) throw new Error(`apps/ui/src/index.html names ${path}, which is not an entry point`);
      return name;
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await bundleUi();
