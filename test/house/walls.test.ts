import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that each workspace may import. */
const ALLOWED: Record<string, string[]> = {
  'packages/protocol': ['fastest-levenshtein', 'zod'],
  'packages/redis': ['@yardmaster/protocol', 'cluster-key-slot', 'ioredis'],
  'packages/runtime': ['@yardmaster/redis', 'pino', 'zod'],
  'packages/store': ['@yardmaster/protocol', '@yardmaster/redis', 'ioredis', 'p-limit', 'safe-stable-stringify'],
  'packages/fsck': ['@yardmaster/protocol', '@yardmaster/redis', '@yardmaster/runtime', '@yardmaster/store'],
  'packages/server': [
    '@yardmaster/protocol',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/store',
    'cors',
    'ipaddr.js',
    'prom-client',
    'proxy-addr',
  ],
  'apps/api': [
    '@yardmaster/protocol',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/server',
    '@yardmaster/store',
    'express',
    'p-limit',
    'zod',
  ],
  'apps/gateway': [
    '@yardmaster/protocol',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/server',
    '@yardmaster/store',
    'prom-client',
    'ws',
  ],
  'apps/scheduler': [
    '@yardmaster/protocol',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/server',
    '@yardmaster/store',
    'bullmq',
    'got',
    'ipaddr.js',
    'p-limit',
    'prom-client',
  ],
  'apps/cli': ['@yardmaster/fsck', '@yardmaster/protocol', 'commander', 'string-width', 'ws'],
  'apps/standalone': [
    '@yardmaster/api',
    '@yardmaster/gateway',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/scheduler',
    '@yardmaster/server',
  ],
  'apps/ui': ['@preact/signals', '@yardmaster/protocol', 'preact'],
};

const workspaces = ['packages', 'apps'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
);

function sourcesOf(workspace: string): string[] {
  return readdirSync(join(root, workspace, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(root, workspace, 'src', file));
}

/** List the packages that a source imports, without files of its workspace and modules of Node. */
function importsOf(file: string): string[] {
  const specifiers = [...readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, name]) => name as string,
  );
  return specifiers
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}

describe.each(workspaces)('workspace %s', (workspace) => {
  const sources = sourcesOf(workspace);

  it(`${workspace} has a list of allowed imports`, () => {
    expect(Object.keys(ALLOWED)).toContain(workspace);
    expect(sources.length).toBeGreaterThan(0);
  });

  it.each(sources.map((file) => relative(root, file)))(
    '%s imports only packages that its workspace may import',
    (file) => {
      expect(importsOf(join(root, file)).filter((name) => !ALLOWED[workspace]?.includes(name))).toEqual([]);
    },
  );

  it(`${workspace} declares exactly the packages that it imports`, () => {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(join(root, workspace, 'package.json'), 'utf8'),
    );
    // The pages are bundled when they are built, so the image needs none of their packages.
    const [declared, others] =
      workspace === 'apps/ui' ? [devDependencies, dependencies] : [dependencies, devDependencies];
    expect(Object.keys(others)).toEqual([]);
    expect(Object.keys(declared).sort()).toEqual([...new Set(sources.flatMap(importsOf))].sort());
  });

  it(`${workspace} reads process.env only in main.ts, and imports no path outside its folder`, () => {
    for (const file of sources) {
      const text = readFileSync(file, 'utf8');
      if (!file.endsWith('/main.ts'))
        expect({ file, reads: /process\.env/.test(text) }).toEqual({ file, reads: false });
      const paths = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => join(file, '..', path as string));
      expect(paths.filter((path) => !path.startsWith(join(root, workspace, 'src')))).toEqual([]);
    }
  });
});

it('apps/ui imports only types from the index of the protocol, whose schemas a browser would have to load', () => {
  for (const file of sourcesOf('apps/ui')) {
    const imports = readFileSync(file, 'utf8').match(/\b(import|export)\b[^;]*?'@yardmaster\/protocol'/g) ?? [];
    expect(imports.filter((text) => !/^(import|export) type /.test(text))).toEqual([]);
  }
});
