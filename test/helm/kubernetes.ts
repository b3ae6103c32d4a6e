import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Manifest } from './chart.js';
import { readProtobufSecret } from './protobuf-secret.js';

/** Kinds that the tests install, by group and version. */
const RESOURCES: Record<string, Record<string, string>> = {
  v1: {
    secrets: 'Secret',
    configmaps: 'ConfigMap',
    services: 'Service',
    serviceaccounts: 'ServiceAccount',
    pods: 'Pod',
  },
  'apps/v1': { deployments: 'Deployment', statefulsets: 'StatefulSet' },
  'policy/v1': { poddisruptionbudgets: 'PodDisruptionBudget' },
  'networking.k8s.io/v1': { ingresses: 'Ingress' },
  'gateway.networking.k8s.io/v1': { httproutes: 'HTTPRoute' },
};

const DISCOVERY: Record<string, unknown> = {
  '/version': { major: '1', minor: '37', gitVersion: 'v1.37.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: Object.keys(RESOURCES)
      .filter((groupVersion) => groupVersion.includes('/'))
      .map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      }),
  },
};
for (const [groupVersion, kinds] of Object.entries(RESOURCES)) {
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update'];
  DISCOVERY[groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`] = {
    kind: 'APIResourceList',
    groupVersion,
    resources: Object.entries(kinds).map(([name, kind]) => ({ name, kind, namespaced: true, verbs })),
  };
}

export interface FakeKubernetes {
  /** Flags that make Helm use it. */
  flags: string[];
  /** Stored objects, by path. */
  objects: Map<string, Manifest>;
  /** Paths of objects that were changed by a patch. */
  patched: string[];
  stop(): Promise<void>;
}

/** Apply a merge patch. The tests do not use other features of strategic merge patches. */
function merged(target: Manifest, patch: Manifest): Manifest {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const result = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** Parse the body of a request. The options of a DELETE are not needed. */
function parsed(body: Buffer, type = ''): Manifest {
  if (type.includes('protobuf')) return readProtobufSecret(body);
  return body.length > 0 ? JSON.parse(String(body)) : undefined;
}

function isSelected(labels: Record<string, string> = {}, selector: string | null): boolean {
  return (selector ?? '').split(',').every((term) => {
    const [name = '', value] = term.split('=');
    return name === '' || labels[name] === value;
  });
}

/**
 * Start an API server with the parts that Helm needs to install, upgrade and uninstall the chart. It stores objects, and
 * runs nothing.
 */
export async function startFakeKubernetes(): Promise<FakeKubernetes> {
  const objects = new Map<string, Manifest>();
  const patched: string[] = [];
  const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

  const verbs: Record<string, (path: string, body: Manifest, selector: string | null) => Manifest | undefined> = {
    GET(path, _, selector) {
      // The path of a collection ends with a resource in a namespace.
      if (!/\/namespaces\/[^/]+\/[^/]+$/.test(path)) return objects.get(path);
      const items = [...objects].filter(([name]) => name.startsWith(`${path}/`)).map(([, object]) => object);
      const kind = `${items[0]?.kind ?? 'Secret'}List`;
      return { kind, apiVersion: 'v1', items: items.filter(({ metadata }) => isSelected(metadata.labels, selector)) };
    },
    POST(path, body) {
      objects.set(`${path}/${body.metadata.name}`, body);
      return body;
    },
    PUT(path, body) {
      objects.set(path, body);
      return body;
    },
    PATCH(path, body) {
      if (!objects.has(path)) return undefined;
      patched.push(path);
      objects.set(path, merged(objects.get(path), body));
      return objects.get(path);
    },
    DELETE(path) {
      const object = objects.get(path);
      objects.delete(path);
      return object;
    },
  };

  const server = http.createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url as string, 'http://cluster');
    const body = parsed(await buffer(req), req.headers['content-type']);
    const response =
      DISCOVERY[pathname] ?? verbs[req.method as string]?.(pathname, body, searchParams.get('labelSelector'));
    res.writeHead(response === undefined ? 404 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(response ?? notFound));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const folder = await mkdtemp(join(tmpdir(), 'yardmaster-kubernetes-'));
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'fake', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
    users: [{ name: 'fake', user: {} }],
    'current-context': 'fake',
  };
  await writeFile(join(folder, 'config'), JSON.stringify(config));
  return {
    flags: ['--kubeconfig', join(folder, 'config')],
    objects,
    patched,
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
