// Module loader hooks of Node.js: compile .ts with swc, as Jest does, without type checks.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

/** Resolve `.js` to `.ts`, because sources import each other by their compiled names. */
export async function resolve(specifier, context, next) {
  const isOfSource = context.parentURL?.endsWith('.ts') && /^\.{1,2}\//.test(specifier);
  return next(isOfSource ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), {
    filename: fileURLToPath(url),
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}
