import type { TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';

/** A watcher of a job as the docs tell it to be: it connects again whenever it is closed before the job has ended. */
export interface Watcher {
  /** Types of the messages of each connection, in order. */
  connections: string[][];
  /** Whether it has seen how the job ended, or was told so by an init. */
  sawEnd(): boolean;
  stop(): Promise<void>;
}

const ENDS = ['completed', 'dead', 'killed'];

/** Watch a job until it ends. */
export async function watchJob(service: TestService, jobId: string, key: string): Promise<Watcher> {
  const connections: string[][] = [];
  let isStopped = false;
  let client: StreamClient | null = null;
  let hasEnded = false;

  const path = `/${jobId}?token=${key}`;
  async function connect(): Promise<void> {
    const next = StreamClient.connect(service.url, path);
    client = next;
    next.ws.on('open', () => connections.push(next.types()));
    next.ws.on('message', (data) => {
      const { type, status } = JSON.parse(data.toString());
      connections.at(-1)?.push(type);
      if (ENDS.includes(type) || (type === 'init' && ENDS.includes(status))) hasEnded = true;
    });
    next.ws.on('close', () => {
      if (!isStopped && !hasEnded) setTimeout(connect, 100);
    });
  }
  await connect();
  return {
    connections,
    sawEnd: () => hasEnded,
    async stop() {
      isStopped = true;
      await client?.close();
    },
  };
}
