import { during } from '../during.js';
import { startNode } from './node.js';
import { startProxy } from './proxy.js';

/**
 * Start a redis-server, and a proxy in front of it, for all tests of the file. Call it where the tests are declared.
 *
 * @returns both, and the Redis of a service behind the proxy
 */
export function withProxiedNode() {
  const node = during(
    () => startNode({ lines: (port) => [`port ${port}`] }),
    (started) => started.stop(),
  );
  const proxy = during(
    () => startProxy(node.port),
    (started) => started.stop(),
  );
  const redis = {
    get url() {
      return `redis://127.0.0.1:${proxy.port}`;
    },
  };
  return { node, proxy, redis };
}
