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
  redis.on('error', () => undefined); // Said by the call that fails.
  return redis;
}

async function asks(socket: string, ...command: [string, ...string[]]): Promise<unknown> {
  const redis = connection(socket);
  try {
    await redis.connect();
    return await redis.call(...command);
  } finally {
    redis.disconnect();
  }
}

/** Whether the redis-server on a unix socket has loaded its data and answers. */
export async function answers(socket: string): Promise<boolean> {
  // While it loads, LOADING is an error.
  return (await asks(socket, 'PING').catch(() => null)) === 'PONG';
}

/** Tell the redis-server on a unix socket to end; its append-only file is flushed first. Nobody there is fine. */
export async function shutDown(socket: string): Promise<void> {
  await asks(socket, 'SHUTDOWN', 'NOSAVE').catch(() => undefined); // It hangs up instead of answering.
}

/** Wait, looking every 20 ms, until `holds` says so or `withinMs` have passed. */
export async function waitFor(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; ) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
