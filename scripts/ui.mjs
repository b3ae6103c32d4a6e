// Bundle the dashboard of apps/ui into apps/ui/dist/site: index.html, and files in assets/ with a content hash in their names, so
// that browsers can cache them forever. Paths are relative, so that the pages work below any path.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { replaceFile } from './replace-file.mjs';

/** The license of the bundled packages requires this notice in every copy. */
const LICENSES = '/*! Preact and @preact/signals: MIT License, Copyright (c) Jason Miller and Preact Team */';

const ui = fileURLToPath(new URL('../apps/ui/', import.meta.url));

/**
 * Bundle the dashboard. Unchanged files are not touched, and others are replaced atomically, because another build or a
 * starting service may read them at the same time.
 */
export async function bundleUi() {
  const site = `${ui}dist/site/`;
  mkdirSync(`${site}assets`, { recursive: true });
  const { metafile, outputFiles } = await build({
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
    write: false,
    logLevel: 'warning',
  });
  const nameOf = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint }]) => [entryPoint, `assets/${basename(path)}`]),
  );
  for (const { path, contents } of outputFiles) replace(path, contents);
  const template = readFileSync(`${ui}src/index.html`, 'utf8');
  const page = template.replace(/(?<=(?:href|src)=")[^"]+/g, (path) => {
    const name = nameOf.get(`src/${path}`);
    if (name === undefined) throw new Error(`apps/ui/src/index.html names ${path}, which is not an entry point`);
    return name;
  });
  replace(`${site}index.html`, Buffer.from(page));
  const current = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(`${site}assets`)) {
    if (!current.has(name)) rmSync(`${site}assets/${name}`, { force: true });
  }
}

/** Write a file of the site through a draft outside of it, because a service would read a draft inside. */
const replace = (path, contents) => replaceFile(path, contents, `${ui}dist`);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await bundleUi();
