import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '../config.js';
import type { TlsFiles } from './address.js';

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`REDIS_URL names a file that cannot be read: ${(error as Error).message}`]);
  }
}

/**
 * Read the files that TLS needs.
 *
 * @throws ConfigError when a file cannot be read
 */
export function tlsOf({ ca, cert, key, servername }: TlsFiles): ConnectionOptions {
  return {
    ...(ca !== undefined && { ca: read(ca) }),
    ...(cert !== undefined && { cert: read(cert) }),
    ...(key !== undefined && { key: read(key) }),
    ...(servername !== undefined && { servername }),
  };
}
