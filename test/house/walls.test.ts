import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  fullMessage,
  isTerminal,
  progressMessage,
  STATUSES,
  STREAM_TYPES,
  spaceMessage,
  streamMessage,
  streamMessageSchema,
  TRANSITIONS,
} from '@yardmaster/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that each workspace may import. */
const ALLOWED: Record<string, string[]> = {
  'packages/protocol': ['croner', 'fastest-levenshtein', 'zod'],
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
  'apps/cli': [
    '@yardmaster/fsck',
    '@yardmaster/protocol',
    '@yardmaster/sdk',
    'commander',
    'string-width',
    'yaml',
    'zod',
  ],
  'apps/standalone': [
    '@yardmaster/api',
    '@yardmaster/gateway',
    '@yardmaster/redis',
    '@yardmaster/runtime',
    '@yardmaster/scheduler',
    '@yardmaster/server',
  ],
  'apps/ui': ['@preact/signals', '@yardmaster/protocol', '@yardmaster/sdk', 'preact'],
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

it('only `every` in service.ts sets intervals, so that each of them stops with its service', () => {
  const served = workspaces.filter((workspace) => !['apps/cli', 'apps/ui'].includes(workspace));
  const setting = served.flatMap(sourcesOf).filter((file) => readFileSync(file, 'utf8').includes('setInterval('));
  expect(setting.map((file) => relative(root, file))).toEqual(['packages/runtime/src/service.ts']);
});

it('apps/ui imports only types from the index of the protocol, whose schemas a browser would have to load', () => {
  for (const file of sourcesOf('apps/ui')) {
    const imports = readFileSync(file, 'utf8').match(/\b(import|export)\b[^;]*?'@yardmaster\/protocol'/g) ?? [];
    expect(imports.filter((text) => !/^(import|export) type /.test(text))).toEqual([]);
  }
});

it.each(STATUSES)('%s is terminal exactly if only a requeue leads to another status', (status) => {
  const leaves = TRANSITIONS.some(
    ({ trigger, from, to }) => trigger !== 'requeue' && from.includes(status) && to !== status,
  );
  expect(isTerminal(status)).toBe(!leaves);
});

describe('the schemas of stream messages', () => {
  const typesOf = ({ options }: { options: readonly { shape: { type: { value: string } } }[] }) =>
    options.map(({ shape }) => shape.type.value).sort();
  const types = Object.keys(STREAM_TYPES);
  const inProgressScope = Object.entries(STREAM_TYPES).flatMap(([type, how]) => (how === 'withheld' ? [] : [type]));

  it('the schemas of stream messages have exactly one option for each type that the stream sends', () => {
    expect(typesOf(fullMessage)).toEqual(['init', ...types].sort());
    expect(typesOf(progressMessage)).toEqual(['init', ...inProgressScope].sort());
    expect(typesOf(spaceMessage)).toEqual(['init', 'counts', 'created', ...types].sort());
  });

  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const isMessage = ajv.compile(streamMessageSchema());
  const dead = {
    jobId: '36o7twzxdv24fxfunb5lk3gei7b2',
    jobName: 'resize',
    type: 'dead',
    status: 'dead',
    data: { error: 'disk full' },
    timestamp: '2026-01-31T09:30:00.766Z',
  };

  it('the schemas of stream messages accept fields that a later release adds', () => {
    const message = { ...dead, workerId: 7 };
    expect(streamMessage.parse(message)).toEqual(dead);
    expect(isMessage(message)).toBe(true);
  });

  it.each([
    ['an unknown type', { ...dead, type: 'paused' }],
    ['the type created without a space', { ...dead, type: 'created', data: null }],
    ['an unknown status', { ...dead, status: 'paused' }],
    ['the data of another type', { ...dead, data: { reason: 'stop' } }],
    ['unexpected data', { ...dead, type: 'acked', data: {} }],
    ['a percentage above 100', { ...dead, type: 'progress', data: { percent: 101, message: 'x' } }],
    ['a negative seq', { ...dead, type: 'logs_appended', data: { fromSeq: -1, toSeq: 1, count: 3 } }],
    ['a timestamp without milliseconds', { ...dead, timestamp: '2026-01-31T09:30:00Z' }],
    ['no job', { ...dead, jobId: undefined }],
    ['no name of the job', { ...dead, jobName: undefined }],
  ])('the schemas of stream messages refuse %s', (_, message) => {
    expect(streamMessage.safeParse(message).success).toBe(false);
    expect(isMessage(JSON.parse(JSON.stringify(message)))).toBe(false);
  });
});
