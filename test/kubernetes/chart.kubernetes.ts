import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import { command, ROOT, withEngine } from '../containers/engine.js';
import { type Installation, type Seen, underLoad } from '../containers/load.js';
import { until } from '../support/until.js';
import { cluster, helmIn, prepareCluster } from './cluster.js';

const REDIS_USER = 999;
/** Most calls that fail when the process of an API is killed: those in flight. */
const MOST_OF_A_KILL = 15;
/** A trial with two pods of each component, which this machine reaches by node ports. */
const VALUES = {
  'image.repository': 'yardmaster',
  'image.tag': 'kubernetes',
  'redis.internal.enabled': 'true',
  'redis.internal.image.tag': '7.4-alpine',
  'redis.internal.nodeSelector.kubernetes\\.io/hostname': 'node-a', // The other node is drained.
  'api.service.type': 'NodePort',
  'gateway.service.type': 'NodePort',
};

const kubectl = (...args: string[]) => cluster('kubectl', '-n', 'jobs', ...args);
const helm = helmIn('jobs');
const withValues = (values: Record<string, string>) =>
  Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
const upgrade = (values: Record<string, string>) =>
  helm('upgrade', 'yard', 'helm/yardmaster', '--reset-then-reuse-values', ...withValues(values), '--wait');
const fieldOf = (object: string, path: string) => kubectl('get', object, '-o', `jsonpath={${path}}`);
/** List the pods of a component, the newest last. */
const podsOf = async (component: string) => {
  const selector = `app.kubernetes.io/component=${component}`;
  return (await kubectl('get', 'pods', '-l', selector, '-o', 'name', '--sort-by=.metadata.creationTimestamp')).split(
    '\n',
  );
};

withEngine('the chart in a Kubernetes', () => {
  let installation: Installation;

  beforeAll(async () => {
    await prepareCluster();
    await kubectl('create', 'namespace', 'jobs');
    const levels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await kubectl('label', 'namespace', 'jobs', ...levels);
    // No provisioner makes volumes here.
    const path = `${ROOT}.cache/cluster/redis-data`;
    mkdirSync(path);
    chownSync(path, REDIS_USER, REDIS_USER);
    const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, hostPath: { path } };
    const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'data' }, spec };
    writeFileSync(`${path}.json`, JSON.stringify(volume));
    await kubectl('apply', '-f', `${path}.json`);
  }, 900_000);

  /** Check that no job was lost or done twice, and that no call failed. */
  const expectNoFailure = ({ lost, doubled, failed }: Seen) =>
    expect({ lost, doubled, failed }).toEqual({ lost: 0, doubled: 0, failed: {} });

  it('an install that names a missing Secret is refused immediately and leaves no release', async () => {
    const install = helm('install', 'none', 'helm/yardmaster', '--set', 'redis.existingSecret.name=none');
    await expect(install).rejects.toThrow('redis.existingSecret: there is no Secret "none" with the key "redis-url"');
    expect(await helm('list', '--all', '--short')).toBe('');
  });

  it('the chart installs into a namespace with restricted pods, and helm test shows its findings', async () => {
    await helm('install', 'yard', 'helm/yardmaster', ...withValues(VALUES), '--wait');
    const tested = await helm('test', 'yard', '--logs');
    expect(tested.match(/http:\S+\/readyz 200/g)).toHaveLength(3);
    const [api, gateway] = await Promise.all(
      ['api', 'gateway'].map((name) => fieldOf(`service/yard-yardmaster-${name}`, '.spec.ports[0].nodePort')),
    );
    const key = await fieldOf('secret/yard-yardmaster-generated', '.data.admin-api-key');
    installation = {
      url: `http://127.0.0.1:${api}`,
      streamUrl: `http://127.0.0.1:${gateway}`,
      key: Buffer.from(key, 'base64').toString(),
    };
  });

  it.each([
    ['an upgrade that replaces all pods', () => upgrade({ 'config.METRICS_SPACES': '50' })],
    ['a rollback', () => helm('rollback', 'yard', '--wait')],
    [
      'a restart of the APIs',
      async () => {
        await kubectl('rollout', 'restart', 'deployment/yard-yardmaster-api');
        await kubectl('rollout', 'status', 'deployment/yard-yardmaster-api');
      },
    ],
    [
      'fewer and more gateways',
      async () => {
        for (const count of [1, 2]) {
          await kubectl('scale', 'deployment/yard-yardmaster-gateway', `--replicas=${count}`);
          await until(async () => (await podsOf('gateway')).length === count);
        }
        await kubectl('rollout', 'status', 'deployment/yard-yardmaster-gateway');
      },
    ],
    ['a drain of a node', () => kubectl('drain', 'node-b', '--ignore-daemonsets', '--delete-emptydir-data')],
  ])('no call in Kubernetes fails during %s', async (_, act) => {
    expectNoFailure(await underLoad(installation, act));
    await kubectl('uncordon', 'node-b');
  });

  it('enabling autoscaling in a running release keeps its number of pods', async () => {
    const counts = new Set<string>();
    let isWatching = true;
    const watch = async () => {
      while (isWatching) counts.add(await fieldOf('deployment/yard-yardmaster-api', '.spec.replicas'));
    };
    await upgrade({ 'api.replicas': '3' });
    const watching = watch();
    const seen = await underLoad(installation, async () => {
      await upgrade({ 'api.autoscaling.enabled': 'true' });
      await upgrade({ 'config.METRICS_SPACES': '60' });
    });
    isWatching = false;
    await watching;
    expectNoFailure(seen);
    expect([...counts]).toEqual(['3']);
  });

  it.each([
    ['a pod of an API is deleted by force', (pod: string) => kubectl('delete', '--force', '--grace-period=0', pod)],
    [
      'the process of an API is killed',
      async (pod: string) => {
        const id = (await fieldOf(pod, '.status.containerStatuses[0].containerID')).replace('containerd://', '');
        const node = await fieldOf(pod, '.spec.nodeName');
        const socket = `${ROOT}.cache/cluster/${node}/containerd.sock`;
        await command('ctr', ['-a', socket, '-n', 'k8s.io', 'tasks', 'kill', '-s', 'KILL', id]);
      },
    ],
  ])('only calls in flight fail in Kubernetes when %s', async (_, kill) => {
    const { lost, doubled, failures } = await underLoad(installation, async () =>
      kill((await podsOf('api')).at(-1) as string),
    );
    expect({ lost, doubled }).toEqual({ lost: 0, doubled: 0 });
    expect(failures).toBeLessThanOrEqual(MOST_OF_A_KILL);
    await kubectl('rollout', 'status', 'deployment/yard-yardmaster-api');
  });

  it('an uninstall leaves only what the notes announce', async () => {
    const notes = await helm('get', 'notes', 'yard');
    expect(notes).toContain('delete pvc data-yard-yardmaster-redis-0');
    await helm('uninstall', 'yard', '--wait');
    await kubectl('wait', '--for=delete', 'pod', '--all', '--timeout=2m');
    const left = await kubectl(
      'get',
      'all,secrets,configmaps,persistentvolumeclaims,poddisruptionbudgets',
      '-o',
      'name',
    );
    expect(
      left
        .split('\n')
        .filter((name) => !name.endsWith('/kube-root-ca.crt'))
        .sort(),
    ).toEqual(['persistentvolumeclaim/data-yard-yardmaster-redis-0', 'secret/yard-yardmaster-generated']);
  });
});
