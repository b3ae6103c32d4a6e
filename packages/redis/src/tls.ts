import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { parseRedisUrl, RedisUrlError, type TlsFiles } from './url.js';

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new RedisUrlError(`names a file that cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Read the files that TLS needs.
 *
 * @throws RedisUrlError when a file cannot be read
 */
export function tlsOf({ ca, cert, key, servername }: TlsFiles): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca: readPem(ca) }),
    ...(cert !== undefined && { cert: readPem(cert) }),
    ...(key !== undefined && { key: readPem(key) }),
    ...(servername !== undefined && { servername }),
  };
}

/**
 * Read each file that a REDIS_URL names, to learn at the start that one cannot be read.
 *
 * @throws RedisUrlError
 */
export function checkFilesOf(url: string): void {
  const { tls } = parseRedisUrl(url);
  if (tls !== null) tlsOf(tls);
}
