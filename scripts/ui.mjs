// Bundle the dashboard of apps/ui into apps/ui/dist/site: index.html, and files in assets/ whose names contain a hash of
// their content, so that browsers may keep them forever. Paths are relative, so that the pages work below any path.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { replaceFile } from './replace-file.mjs';

/** The license of the packages in the bundle asks for this notice in every copy. */
const LICENSES = '/*! Preact and @preact/signals: MIT License, Copyright (c) Jason Miller and Preact Team */';

const ui = fileURLToPath(new URL('../apps/ui/', import.meta.url));

/**
 * Bundle the dashboard. Files that have not changed stay as they are, and others are replaced at once, because another
 * build or a starting service may read them at the same time.
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

/** Write a file of the site by way of a draft outside of it, because a service would read one in it. */
const replace = (path, contents) => replaceFile(path, contents, `${ui}dist`);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await bundleUi();
