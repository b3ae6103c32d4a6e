import { type Receiver, startReceiver } from './receiver.js';

/** Receivers on both loopback addresses and one port, which count connections. */
export interface Traps {
  port: number;
  v4: Receiver;
  /** Undefined on a machine without IPv6. */
  v6: Receiver | undefined;
  /** Connections so far, to either receiver. */
  connections(): number;
  close(): Promise<void>;
}

async function startV6(port: number): Promise<Receiver | undefined | 'taken'> {
  try {
    return await startReceiver({ host: '::1', port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') return 'taken';
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return undefined;
    throw error;
  }
}

export async function startTraps(): Promise<Traps> {
  const v4 = await startReceiver();
  const v6 = await startV6(v4.port);
  if (v6 === 'taken') {
    await v4.close();
    return startTraps();
  }
  return {
    port: v4.port,
    v4,
    v6,
    connections: () => v4.connections() + (v6?.connections() ?? 0),
    async close() {
      await Promise.all([v4.close(), v6?.close()]);
    },
  };
}
