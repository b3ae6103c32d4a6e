import { login, makeTlsFiles, PASSWORD, queryOf, type TlsFiles } from './credentials.js';
import { quoted, type RedisNode, startNode } from './node.js';

export interface TlsRedis extends RedisNode {
  /** `rediss://yardmaster:…@127.0.0.1:…/?ca=…` */
  url: string;
  user: string;
  password: string;
  files: TlsFiles;
}

/**
 * Start one Redis that only accepts TLS and the user `yardmaster` with a password.
 *
 * @param clientCertificates whether it also requires a certificate of the client; the URL then names one
 */
export async function startTlsRedis({ clientCertificates = false } = {}): Promise<TlsRedis> {
  const files = await makeTlsFiles({ clients: clientCertificates });
  const user = 'yardmaster';
  const node = await startNode({
    lines: (port) => [
      ...files.lines(port),
      'user default off',
      `user ${user} on ${quoted(`>${PASSWORD}`)} ~* &* +@all`,
    ],
  }).catch(async (error) => {
    await files.remove();
    throw error;
  });
  return Object.assign(node, {
    url: `rediss://${login(PASSWORD, user)}127.0.0.1:${node.port}/${queryOf(files.query)}`,
    user,
    password: PASSWORD,
    files,
    stop: stopWith(node.stop, files),
  });
}

const stopWith = (stop: () => Promise<void>, files: TlsFiles) => async () => {
  await stop();
  await files.remove();
};
