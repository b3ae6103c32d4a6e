import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../certificate.js';

/** Contains characters that a URL must escape, so that a missing escape fails a test. */
export const PASSWORD = 'p@ss:word/% of the tests';
export const SENTINEL_PASSWORD = 'sent?nel&=#';

/** Return the part of a URL before the hosts. */
export const login = (password: string, user = '') => `${user}:${encodeURIComponent(password)}@`;

/** Certificates in a folder of their own, and the settings and parameters that name them. */
export interface TlsFiles {
  /** Paths of PEM files. */
  ca: string;
  cert: string;
  key: string;
  /** Lines of redis.conf for a server that speaks TLS on this port and nothing else. */
  lines(port: number): string[];
  /** Parameters of a REDIS_URL. */
  query: Record<string, string>;
  remove(): Promise<void>;
}

/**
 * Make a self-signed certificate for 127.0.0.1, localhost and `redis.test`.
 *
 * @param clients whether a client must present it too
 */
export async function makeTlsFiles({ clients = false } = {}): Promise<TlsFiles> {
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-tls-'));
  const made = await selfSigned(['127.0.0.1', 'localhost', 'redis.test']);
  const cert = join(dir, 'redis.crt');
  const key = join(dir, 'redis.key');
  await writeFile(cert, made.cert);
  await writeFile(key, made.key, { mode: 0o600 });
  return {
    ca: cert,
    cert,
    key,
    lines: (port) => [
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${cert}`,
      `tls-key-file ${key}`,
      `tls-ca-cert-file ${cert}`,
      `tls-auth-clients ${clients ? 'yes' : 'no'}`,
      'tls-replication yes',
    ],
    query: clients ? { ca: cert, cert, key } : { ca: cert },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Return `?…`, or an empty text without parameters. */
export function queryOf(parameters: Record<string, string>): string {
  const text = String(new URLSearchParams(parameters));
  return text === '' ? '' : `?${text}`;
}
