import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { parseRedisUrl, RedisUrlError, type TlsFiles } from './url.js';

function read(path: string): Buffer {
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
    ...(ca !== undefined && { ca: read(ca) }),
    ...(cert !== undefined && { cert: read(cert) }),
    ...(key !== undefined && { key: read(key) }),
    ...(servername !== undefined && { servername }),
  };
}

/**
 * Check a REDIS_URL, and that each file that it names can be read.
 *
 * @throws RedisUrlError
 */
export function checkRedisUrl(url: string): void {
  const { tls } = parseRedisUrl(url);
  if (tls !== null) tlsOf(tls);
}
