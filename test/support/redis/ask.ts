import { readFileSync } from 'node:fs';
import { Redis, type RedisOptions } from 'ioredis';
import type { TlsFiles } from './credentials.js';

export interface Address {
  port: number;
  password?: string;
  username?: string;
  tls?: TlsFiles | null;
}

/** Return the ioredis options for one server of the tests. */
export function optionsFor({ port, password, username, tls }: Address): RedisOptions {
  return {
    host: '127.0.0.1',
    port,
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(tls ? { tls: { ca: readFileSync(tls.ca), cert: readFileSync(tls.cert), key: readFileSync(tls.key) } } : {}),
  };
}

/** Send one command to one server over a new connection. */
export async function ask(address: Address, ...command: [string, ...(string | number)[]]): Promise<unknown> {
  const redis = new Redis({
    ...optionsFor(address),
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 5_000,
    disconnectTimeout: 50,
  });
  redis.on('error', () => undefined); // The failed call reports it.
  try {
    await redis.connect();
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

/** Read the fields of a section of INFO. */
export async function info(address: Address, section: string): Promise<Record<string, string>> {
  const text = String(await ask(address, 'INFO', section));
  return Object.fromEntries([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name, value]) => [name, value]));
}
