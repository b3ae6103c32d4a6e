import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../support/free-port.js';
import { HttpClient } from '../support/http.js';
import { type RedisCluster, startCluster } from '../support/redis/cluster.js';
import { until } from '../support/until.js';
import { containerOf, find, readFile, render } from './chart.js';
import { type Running, run } from './rendered-process.js';

// A comment in helm/examples/cluster-tls.yaml shows the URL that belongs to its volume. This test uses both.

let cluster: RedisCluster;
let mounted: string;
let api: Running | undefined;

beforeAll(async () => {
  cluster = await startCluster({ tls: true });
  mounted = await mkdtemp(join(tmpdir(), 'yardmaster-mounted-'));
  const [, certificate = ''] = /[?&]ca=([^&]+)/.exec(decodeURIComponent(cluster.url)) ?? [];
  const key = join(dirname(certificate), 'redis.key');
  // The one certificate of the tests is its own authority.
  for (const [from, to] of [
    [certificate, 'ca.crt'],
    [certificate, 'tls.crt'],
    [key, 'tls.key'],
  ] as const) {
    await copyFile(from, join(mounted, to));
  }
});

afterAll(async () => {
  api?.child.kill('SIGKILL');
  await cluster?.stop();
  if (mounted) await rm(mounted, { recursive: true });
});

it('the API connects to a Redis cluster with the certificates that cluster-tls.yaml mounts', async () => {
  const manifests = render('cluster-tls.yaml');
  const container = containerOf(manifests, 'api');
  const [{ mountPath }] = container.volumeMounts;
  const [, shown = ''] = /redis-url='([^']+)'/.exec(readFile('helm/examples/cluster-tls.yaml')) ?? [];
  const hosts = (url: string) => /@([^/?]+)/.exec(url)?.[1] as string;
  const login = (url: string) => /:\/\/([^@]+)@/.exec(url)?.[1] as string;
  const url = shown
    .replaceAll(mountPath, mounted)
    .replace(hosts(shown), hosts(cluster.url))
    .replace(login(shown), login(cluster.url));
  expect(url.split(mounted)).toHaveLength(4);

  const port = await freePort();
  api = run(container.command, {
    ...find(manifests, 'ConfigMap', '-config').data,
    PORT: String(port),
    REDIS_URL: url,
    ADMIN_API_KEY: 'admin-key-of-the-tests-of-yardmaster',
  });
  const http = new HttpClient(`http://127.0.0.1:${port}`);
  const status = () => http.call('GET', '/readyz').then((response) => response.status, String);
  await until(async () => (await status()) === 200 || api?.child.exitCode !== null);
  expect({ status: await status(), output: api.output() }).toMatchObject({ status: 200 });
  http.close();
});
