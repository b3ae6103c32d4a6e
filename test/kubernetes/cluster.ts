import { goCommand } from '../../scripts/go-command.mjs';
import { buildImage, command, ROOT } from '../containers/engine.js';

export const IMAGE = 'yardmaster:kubernetes';
export const KUBECONFIG = `${ROOT}.cache/cluster/admin.conf`;

export const cluster = (...args: string[]) => command('test/containers/cluster.sh', args);
/** Return helm for a namespace. */
export const helmIn =
  (namespace: string) =>
  (...args: string[]) =>
    command(goCommand('helm'), ['-n', namespace, ...args], { KUBECONFIG });

/** Have the image and a Redis on the nodes, and the DNS of the cluster. */
export async function prepareCluster() {
  await buildImage(IMAGE);
  await cluster('load', IMAGE, 'redis:7.4-alpine');
  const hasDns = await cluster('kubectl', '-n', 'kube-system', 'get', 'deployment/dns').then(
    () => true,
    () => false,
  );
  if (!hasDns) await cluster('dns', IMAGE);
}
