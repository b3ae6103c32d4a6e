import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { goCommand } from '../../scripts/go-command.mjs';
import { docker, ROOT, withEngine } from '../containers/engine.js';
import { blocksOf } from '../pages/blocks.js';
import { cluster, IMAGE, KUBECONFIG, prepareCluster } from './cluster.js';

// An operator types what the pages say to type for a release in the namespace `yardmaster`, in this order, and every command
// must succeed.
const PAGES = ['docs/deploy.md', 'docs/monitoring.md', 'docs/troubleshooting.md', 'docs/backup.md', 'docs/upgrades.md'];
const BLOCKS = PAGES.flatMap(blocksOf).filter(
  ({ language, code }) => language === 'sh' && /\b(kubectl|helm)\b/.test(code) && !/redis-cli|fsck$/m.test(code),
);

/** The image that docs/deploy.md installs, and the URL that it asks for. */
const PAGES_IMAGE = 'registry.example.com/yardmaster:0.1.0';
const REDIS_URL = 'redis://yardmaster:password@redis.example.com:6379';

/** A Redis as the pages name it, with its user. */
const REDIS = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: redis, namespace: example }
spec:
  selector: { matchLabels: { app: redis } }
  template:
    metadata: { labels: { app: redis } }
    spec:
      containers:
        - name: redis
          image: redis:7.4-alpine
          imagePullPolicy: Never
          args: [redis-server, --protected-mode, 'no', --maxmemory-policy, noeviction, --user, yardmaster, 'on', '>password', '~*', '&*', '+@all']
---
apiVersion: v1
kind: Service
metadata: { name: redis, namespace: example }
spec: { selector: { app: redis }, ports: [{ port: 6379 }] }
`;

withEngine('the pages on Kubernetes', () => {
  let bin: string;
  const bash = (script: string, input?: string) =>
    spawnSync('bash', ['-c', script], {
      cwd: ROOT,
      env: { ...process.env, KUBECONFIG, PATH: `${bin}:${process.env.PATH}` },
      encoding: 'utf8',
      input,
    });

  beforeAll(async () => {
    await prepareCluster();
    await docker('tag', IMAGE, PAGES_IMAGE);
    await cluster('load', PAGES_IMAGE);
    bin = mkdtempSync(join(tmpdir(), 'yardmaster-bin-'));
    symlinkSync(goCommand('helm'), join(bin, 'helm'));
    symlinkSync(join(dirname(KUBECONFIG), '../kubernetes-1.34.4/kubectl'), join(bin, 'kubectl'));
    await cluster('kubectl', 'create', 'namespace', 'example');
    expect(
      bash('kubectl apply -f - && kubectl -n example rollout status deployment/redis --timeout 2m', REDIS).status,
    ).toBe(0);
  }, 900_000);
  afterAll(() => rmSync(bin, { recursive: true }));

  it.each(BLOCKS.map((block) => [block.at, block.code]))('an operator can run the commands at %s', (_, code) => {
    // Pods that another page has restarted may not have logs yet.
    if (/ logs /.test(code))
      bash('kubectl -n yardmaster rollout status deployment --selector app.kubernetes.io/instance=yardmaster');
    const { status, stdout, stderr } = bash(`set -e\n${code}`, `${REDIS_URL}\n`);
    expect(status === 0 ? '' : `${stdout}${stderr}`).toBe('');
  });
});
