import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** Return the first group of a pattern in a file. */
function found(path: string, pattern: RegExp): string {
  const [, text] = pattern.exec(read(path)) ?? [];
  if (text === undefined) throw new Error(`${path} has no ${pattern}`);
  return text;
}

const page = read('docs/install.md');
const [, table = ''] = /^## Compatibility\n(.*?)^## /ms.exec(page) ?? [];

/** Names of the table, and the version that the repository has. */
const VERSIONS: [name: string, version: string][] = [
  ['Redis', found('packages/store/src/prepare.ts', /MIN_REDIS = \[(\d+, \d+)\]/).replace(', ', '.')],
  ['a cluster: Redis', found('packages/store/src/prepare.ts', /CLUSTER_REDIS = \[(\d+, \d+)\]/).replace(', ', '.')],
  ['Node.js', found('package.json', /"node": ">=([\d.]+)"/)],
  ['Python', found('sdk/python/pyproject.toml', /requires-python = ">=([\d.]+)"/)],
  ['Go', found('sdk/go/go.mod', /^go ([\d.]+)$/m)],
  ['Kubernetes', found('helm/yardmaster/Chart.yaml', /kubeVersion: ">=(\d+\.\d+)/)],
];

it.each(VERSIONS)('docs/install.md states the minimum version of %s: %s', (name, version) => {
  expect(table).toContain(`${name} ${version} or later`);
});

it('docs/install.md states the versions that the tests run with', () => {
  const kubernetes = found('test/helm/chart.ts', /KUBERNETES = \['(.+?)'\]/).split("', '");
  const nodes = found('.github/workflows/ci.yml', /node: \['(.+)'\]/).split("', '");
  const tools = read('scripts/helm/tools.mjs');
  const minorOf = (module: string) => new RegExp(`${module}(?:/v\\d+)?@v(\\d+\\.\\d+)`).exec(tools)?.[1];
  for (const text of [
    `checked against the schemas of ${kubernetes.join(' and ')}`,
    `CI runs its suites with ${nodes.join(' and ')}. The image has ${found('Dockerfile', /NODE_VERSION=(\d+)/)}`,
    `Helm ${found('scripts/go-command.mjs', /cmd\/helm@v([\d.]+)/)}`,
    `Gateway API ${minorOf('gateway-api')}, Prometheus operator ${minorOf('prometheus-operator')}, KEDA ${minorOf('keda')}`,
  ]) {
    expect(table).toContain(text);
  }
});

it('docs/releasing.md names every job of the release, and docs/install.md every place that is published', () => {
  const { jobs } = parse(read('.github/workflows/release.yml'));
  const rows = [...read('docs/releasing.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, job]) => job);
  expect(rows).toEqual(Object.keys(jobs));
  for (const place of ['ghcr.io/yardmaster/yardmaster', 'ghcr.io/yardmaster/charts/yardmaster', 'yardmaster-sdk']) {
    expect(page).toContain(place);
  }
});

const readJson = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

it('package-lock.json locks a single version of ipaddr.js, at the top level of node_modules', () => {
  const pinned: string = readJson('apps/scheduler/package.json').dependencies['ipaddr.js'];
  expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
  const { packages } = readJson('package-lock.json');
  expect(packages['node_modules/ipaddr.js'].version).toBe(pinned);
  const nested = Object.keys(packages).filter((path) => /^(apps|packages)\/.+\/ipaddr\.js$/.test(path));
  expect(nested).toEqual([]);
});

const root = fileURLToPath(new URL('../../', import.meta.url));

const files = ['packages/store/src', 'packages/fsck/src'].flatMap((folder) =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.lua'))
    .map((file) => `${folder}/${file}`),
);

it.each(files)('%s parses no JSON, has fewer than 60 lines, and declares its inputs and replies', (file) => {
  const text = readFileSync(root + file, 'utf8');
  expect(text).not.toMatch(/cjson|cmsgpack|^#!/m);
  expect(text.split('\n').length).toBeLessThan(60);
  if (file.includes('/lua/')) return;
  expect(text).toMatch(
    /^-- KEYS .+\n-- ARGV .+\n(-- REPLY [A-Z_]+.*\n)+(-- ERRORS .+\n)?(-- REPLICATED\n)?--\n-- [A-Z]/,
  );
});

it('the topology excludes only existing tests', async () => {
  const { EXCLUDED } = await import(`${root}test/topology/excluded.mjs`);
  expect(
    EXCLUDED.filter(
      (file: string) => !['test', 'thorough'].some((kind) => existsSync(`${root}test/${file}.${kind}.ts`)),
    ),
  ).toEqual([]);
});
