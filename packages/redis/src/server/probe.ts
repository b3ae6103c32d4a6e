import { Redis } from 'ioredis';

function connection(socket: string): Redis {
  const redis = new Redis(socket, {
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 2_000,
    disconnectTimeout: 50,
  });
  redis.on('error', () => undefined); // The call that fails reports this.
  return redis;
}

async function call(socket: string, ...command: [string, ...string[]]): Promise<unknown> {
  const redis = connection(socket);
  try {
    await redis.connect();
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

/** Whether the redis-server on a unix socket has loaded its data and replies. */
export async function isServing(socket: string): Promise<boolean> {
  // While it loads, its reply is the error LOADING.
  return (await call(socket, 'PING').catch(() => null)) === 'PONG';
}

/**
 * Make the redis-server on a unix socket end; it flushes its append-only file first. It does nothing when there is
 * none.
 */
export async function shutDown(socket: string): Promise<void> {
  await call(socket, 'SHUTDOWN', 'NOSAVE').catch(() => undefined); // It closes the connection instead of replying.
}

/** Wait until a check returns true, every 20 ms, or until `withinMs` have passed. @returns whether it did */
export async function waitFor(check: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; ) {
    if (await check()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
