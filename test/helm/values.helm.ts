import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readConfig, VARIABLES, type VariableName } from '@yardmaster/runtime';
import { parse } from 'yaml';
import { CHART, COMPONENTS, containerOf, find, LEAST, type Manifest, readFile, render, TRIAL } from './chart.js';
import { environmentOf } from './rendered-process.js';

const values = parse(readFile('helm/yardmaster/values.yaml'));
const schema = JSON.parse(readFile('helm/yardmaster/values.schema.json'));
const readme = readFile('helm/yardmaster/README.md');

/** Variables that the chart sets by other values, or that no component of it reads. */
const NOT_CONFIG = [
  'PORT',
  'REDIS_URL',
  'REDIS_URL_FILE',
  'DATA_DIR',
  'CLOCK',
  'ADMIN_API_KEY',
  'ADMIN_API_KEY_FILE',
  'CALLBACK_SIGNING_SECRET',
  'CALLBACK_SIGNING_SECRET_FILE',
  'SHUTDOWN_SECONDS',
  'UI',
];

it('every chart value is documented in a comment, and in the README with its default', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/helm/values.mjs', '--check'], {
    cwd: `${CHART}/../..`,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('schema of the chart values', () => {
  /** Types of Kubernetes, whose fields are not values of the chart. */
  const FOREIGN = ['resources', 'probe', 'podSecurityContext', 'securityContext'].map((name) => `#/$defs/${name}`);
  const resolve = (node: Manifest) => (node.$ref ? schema.$defs[node.$ref.split('/').at(-1)] : node);

  function pathsIn(node: Manifest, path: string): string[] {
    const { properties } = resolve(node);
    if (properties === undefined || FOREIGN.includes(node.$ref)) return [path];
    return Object.entries(properties).flatMap(([key, inner]) => pathsIn(inner, `${path}.${key}`));
  }
  function pathsOf(value: unknown, path: string, node: Manifest): string[] {
    const { properties } = resolve(node ?? {});
    if (properties === undefined || FOREIGN.includes(node.$ref)) return [path];
    return Object.entries(value as object).flatMap(([key, inner]) => pathsOf(inner, `${path}.${key}`, properties[key]));
  }

  it('the schema of the chart values lists exactly the values of values.yaml', () => {
    // Variables that are not set have their own defaults.
    const known = pathsIn(schema, '').filter((path) => !/^\.config\.(?!HOST)/.test(path));
    expect(known.sort()).toEqual(pathsOf(values, '', schema).sort());
  });

  it('the schema of the chart values allows unknown fields only in objects that Kubernetes checks', () => {
    const open: string[] = [];
    (function visit(node: Manifest, path: string) {
      if (node === null || typeof node !== 'object') return;
      if (node.type === 'object' && node.additionalProperties === undefined) open.push(path);
      for (const [key, inner] of Object.entries(node)) visit(inner, `${path}/${key}`);
    })(schema, '');
    expect(open.sort()).toEqual(['/$defs/kubernetes', '/$defs/list/items', '/properties/global']);
  });

  it('the schema of the chart values lists every variable of the service that the chart does not set', () => {
    const known = Object.keys(schema.properties.config.properties);
    expect(known).toEqual(Object.keys(VARIABLES).filter((name) => !NOT_CONFIG.includes(name)));
  });
});

it('the chart passes every variable on unchanged', () => {
  const defaults = Object.entries(VARIABLES)
    .filter(([name, variable]) => variable.default !== null && !NOT_CONFIG.includes(name))
    .map(([name, variable]) => [name, variable.default as string]);
  const asText = Object.fromEntries(defaults);
  const asTyped = Object.fromEntries(
    defaults.map(([name, text]) => [
      name,
      /^(\d+(\.\d+)?|true|false)$/.test(text as string) ? JSON.parse(text as string) : text,
    ]),
  );
  for (const config of [asText, asTyped]) {
    expect(find(render({ ...LEAST, config }), 'ConfigMap', '-config').data).toMatchObject(asText);
  }
});

it.each(COMPONENTS)('the chart renders a valid environment for the %s', (component) => {
  for (const manifests of [render(TRIAL), render('everything.yaml')]) {
    const environment = environmentOf(manifests, containerOf(manifests, component));
    expect(() => readConfig(environment, Object.keys(VARIABLES) as VariableName[])).not.toThrow();
  }
});

it('the chart names the version of the service it installs', () => {
  const { version } = JSON.parse(readFile('package.json'));
  expect(parse(readFile('helm/yardmaster/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  expect(containerOf(render(LEAST), 'api').image).toBe(`ghcr.io/yardmaster/yardmaster:${version}`);
});

it('a registry for all images replaces the hosts of their repositories', () => {
  const global = { imageRegistry: 'mirror.example.com/hub', imagePullSecrets: [{ name: 'mirror' }] };
  const image = { repository: 'team/yardmaster', tag: 'main' };
  const manifests = render({ ...TRIAL, global, image, imagePullSecrets: [{ name: 'own' }] });
  const pods = manifests.flatMap(({ kind, spec }) => (kind === 'Pod' ? [spec] : (spec?.template?.spec ?? [])));
  expect(new Set(pods.map(({ containers }) => containers[0].image))).toEqual(
    new Set(['mirror.example.com/hub/team/yardmaster:main', 'mirror.example.com/hub/library/redis:7.4-bookworm']),
  );
  expect(pods.map(({ imagePullSecrets }) => imagePullSecrets)).toEqual(
    Array(5).fill([{ name: 'mirror' }, { name: 'own' }]),
  );
});

it('all resources get the common annotations, and annotations of a kind take precedence', () => {
  const { extraObjects, ...everything } = parse(readFile('helm/examples/everything.yaml'));
  const manifests = render({
    ...everything,
    commonAnnotations: { 'example.com/owner': 'all', 'example.com/cost': 'jobs' },
  });
  expect(extraObjects).toHaveLength(1);
  expect(manifests.length).toBeGreaterThan(20);
  for (const { kind, metadata } of manifests)
    expect({ kind, annotations: metadata.annotations }).toMatchObject({ annotations: { 'example.com/cost': 'jobs' } });
  expect(find(manifests, 'ServiceAccount').metadata.annotations['example.com/owner']).toBe('platform');
});

it('extraObjects of the release may contain templates', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } };
  expect(find(render({ ...TRIAL, extraObjects: [object] }), 'ConfigMap', '-more').metadata.name).toBe('yard-more');
});

it('the README of the chart lists every example', () => {
  const linked = [...readme.matchAll(/\/blob\/main\/helm\/examples\/(.+?)\)/g)].map(([, file]) => file);
  expect(linked.sort()).toEqual(readdirSync(`${CHART}/../examples`).sort());
});
