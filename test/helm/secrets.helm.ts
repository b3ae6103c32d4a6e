import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { goCommand } from '../../scripts/go-command.mjs';
import { CHART, COMPONENTS, containerOf, find, LEAST, type Manifest, render, TRIAL } from './chart.js';
import { type FakeKubernetes, startFakeKubernetes } from './kubernetes.js';
import { secretValue } from './rendered-process.js';

const decoded = (secret: Manifest): Record<string, string> =>
  Object.fromEntries(
    Object.entries<string>(secret.data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );

it('secrets rendered without a cluster are random and valid for the processes', () => {
  const secrets = decoded(find(render(TRIAL), 'Secret'));
  expect(secrets).toEqual({
    'admin-api-key': expect.stringMatching(/^[A-Za-z0-9]{43}$/),
    'callback-signing-secret': expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    'redis-password': expect.stringMatching(/^[A-Za-z0-9]{43}$/),
    'redis-auth.conf': `requirepass ${secrets['redis-password']}\n`,
    'redis-url': `redis://:${secrets['redis-password']}@yard-yardmaster-redis:6379`,
  });
  expect(decoded(find(render(TRIAL), 'Secret'))['admin-api-key']).not.toBe(secrets['admin-api-key']);
});

it('no Secret is rendered when existing Secrets are set for all', () => {
  const manifests = render('production.yaml');
  expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  const refs = COMPONENTS.flatMap((component) => containerOf(manifests, component).env).map(
    ({ name, valueFrom }: Manifest) => [name, valueFrom.secretKeyRef.name, valueFrom.secretKeyRef.key].join(' '),
  );
  expect(new Set(refs)).toEqual(
    new Set([
      'REDIS_URL yardmaster-redis redis-url',
      'ADMIN_API_KEY yardmaster-admin admin-api-key',
      'CALLBACK_SIGNING_SECRET yardmaster-signing callback-signing-secret',
    ]),
  );
});

it('a secret can be read from another key of an existing Secret', () => {
  const manifests = render({ redis: { existingSecret: { name: 'stores', key: 'jobs' } } });
  expect(containerOf(manifests, 'scheduler').env[0].valueFrom.secretKeyRef).toEqual({ name: 'stores', key: 'jobs' });
});

it('secrets in files are read from the files, and the release contains no secrets', () => {
  const files = { redis: '/secrets/redis', admin: '/secrets/admin', signing: '/secrets/signing' };
  const manifests = render({
    ...{ redis: { file: files.redis }, adminKey: { file: files.admin }, callbackSigning: { file: files.signing } },
  });
  expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  expect(containerOf(manifests, 'api').env).toEqual([
    { name: 'REDIS_URL_FILE', value: files.redis },
    { name: 'ADMIN_API_KEY_FILE', value: files.admin },
    { name: 'CALLBACK_SIGNING_SECRET_FILE', value: files.signing },
  ]);
});

it('secrets set as values are stored in a Secret of the release', () => {
  const given = {
    url: 'rediss://:p%40ss@redis:6380',
    key: 'a-key-of-the-operator-with-32-or-more',
    signing: 'whsec_AAAA',
  };
  const manifests = render({
    redis: { url: given.url },
    adminKey: { value: given.key },
    callbackSigning: { value: given.signing },
  });
  const secret = find(manifests, 'Secret');
  expect(secret.metadata.annotations).toBeUndefined();
  for (const component of COMPONENTS) {
    for (const { name, valueFrom } of containerOf(manifests, component).env) {
      const { name: secretName, key } = valueFrom.secretKeyRef;
      const expected = { REDIS_URL: given.url, ADMIN_API_KEY: given.key, CALLBACK_SIGNING_SECRET: given.signing }[
        name as string
      ];
      expect(secretValue(manifests, secretName, key)).toBe(expected);
    }
  }
});

it('the Secret of a release contains no signing secret when signing is disabled', () => {
  const manifests = render({ ...LEAST, callbackSigning: { enabled: false } });
  const namesOf = (component: string) => containerOf(manifests, component).env.map(({ name }: Manifest) => name);
  expect(namesOf('scheduler')).toEqual(['REDIS_URL']);
  expect(namesOf('api')).toEqual(['REDIS_URL', 'ADMIN_API_KEY']);
  expect(Object.keys(find(manifests, 'Secret').data)).toEqual(['admin-api-key']);
});

describe('secrets installed in a cluster', () => {
  const generated = '/api/v1/namespaces/jobs/secrets/yard-yardmaster-generated';
  let cluster: FakeKubernetes;
  beforeEach(async () => {
    cluster = await startFakeKubernetes();
  });
  afterEach(() => cluster.stop());

  /** Run Helm against the cluster; asynchronously, because this process is the cluster. */
  async function helm(verb: string, values: object | null, ...flags: string[]): Promise<string> {
    const chart = values === null ? [] : [CHART, '--values', '-', '--disable-openapi-validation'];
    const args = [verb, 'yard', ...chart, '--namespace', 'jobs', ...cluster.flags, ...flags];
    const child = spawn(goCommand('helm'), args);
    child.stdin.end(JSON.stringify(values ?? {}));
    const [output, complaints, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (code !== 0) throw new Error(complaints);
    return output;
  }
  const secrets = () => decoded(cluster.objects.get(generated));

  it('secrets in a cluster are generated once and survive upgrades', async () => {
    await helm('install', TRIAL);
    const first = secrets();
    await helm('upgrade', TRIAL);
    await helm('upgrade', { ...TRIAL, config: { LOG_LEVEL: 'debug' } });
    expect(secrets()).toEqual(first);
    expect(cluster.patched).not.toContain(generated);
    expect(cluster.patched).toContain('/api/v1/namespaces/jobs/configmaps/yard-yardmaster-config');
  });

  it('secrets in a cluster survive an uninstall, and the next install reuses them', async () => {
    await helm('install', TRIAL);
    const first = secrets();
    await helm('uninstall', null);
    expect([...cluster.objects.keys()]).toEqual([generated]);
    await helm('install', TRIAL);
    expect(secrets()).toEqual(first);
  });

  it('secrets in a cluster are added when a later release needs them, and kept when it no longer does', async () => {
    await helm('install', { ...LEAST, callbackSigning: { enabled: false } });
    const first = secrets();
    expect(Object.keys(first)).toEqual(['admin-api-key']);
    await helm('upgrade', TRIAL);
    const second = secrets();
    expect(second).toMatchObject({ ...first, 'callback-signing-secret': expect.stringMatching(/^whsec_/) });
    await helm('upgrade', { ...LEAST, adminKey: { value: 'a-key-of-the-operator-with-32-or-more' } });
    await helm('upgrade', TRIAL);
    expect(secrets()).toEqual(second);
  });

  it('the notes of the chart show no secrets, and explain how to read them', async () => {
    const notes = await helm('install', TRIAL);
    const template = `'{{ index .data "admin-api-key" | base64decode }}'`;
    expect(notes).toContain(`get secret yard-yardmaster-generated -o go-template=${template}`);
    expect(notes).toContain('$YARDMASTER_URL/api/v1/spaces/demo/callback-secret');
    for (const secret of Object.values(secrets())) expect(notes).not.toContain(secret);
  });

  it('the notes of the chart locate existing secrets, and do not mention unused ones', async () => {
    const existingSecret = { name: 'admins', key: 'admin' };
    const notes = await helm('install', { ...LEAST, adminKey: { existingSecret } }, '--dry-run=client');
    expect(notes).toContain(`get secret admins -o go-template='{{ index .data "admin"`);
    const unsigned = await helm('install', { ...LEAST, callbackSigning: { enabled: false } }, '--dry-run=client');
    expect(unsigned).not.toContain('callback-secret');
  });

  it.each([
    ['the Service', {}, 'port-forward service/yard-yardmaster-api 8080:8080'],
    [
      'an Ingress',
      { ingress: { hosts: ['jobs.example.com'], tls: [{}] } },
      'YARDMASTER_URL=https://jobs.example.com\n',
    ],
    [
      'a Gateway',
      { httpRoute: { hostnames: ['jobs.example.com'], parentRefs: [{ name: 'a' }] } },
      'YARDMASTER_URL=https://jobs.example.com\n',
    ],
    ['a Gateway of any name', { httpRoute: { parentRefs: [{ name: 'a' }] } }, 'YARDMASTER_URL=https://HOST\n'],
  ])('the notes of the chart show the URL of the service, by %s', async (_, values, line) => {
    const enabled = Object.entries(values).map(([key, value]) => [key, { ...(value as object), enabled: true }]);
    const notes = await helm('install', { ...TRIAL, ...Object.fromEntries(enabled) }, '--dry-run=client');
    expect(notes).toContain(line);
    expect(notes.includes("config.TRUSTED_PROXIES isn't set")).toBe(enabled.length > 0);
  });
});
