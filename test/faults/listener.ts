import { setTimeout as delay } from 'node:timers/promises';
import { StreamClient } from '../support/stream-client.js';
import type { Installation } from './installation.js';
import { SPACES } from './load/plan.js';

/** A watcher of a gateway that notes when it hears something, and comes again whenever its stream ends. */
export interface Listener {
  /** When something came, epoch milliseconds; the init of a stream counts. */
  readonly heardAt: readonly number[];
  stop(): Promise<void>;
}

const AGAIN_MS = 50;

/** Listen to every space of the load at once. */
export function listen({ gateways, key }: Installation): Listener {
  const heardAt: number[] = [];
  const open = new Set<StreamClient>();
  let isOver = false;

  async function listenTo(spaceId: string): Promise<void> {
    while (!isOver) {
      const stream = StreamClient.connect(gateways[0]?.url as string, `/spaces/${spaceId}?token=${key}`);
      open.add(stream);
      stream.ws.on('message', () => heardAt.push(Date.now()));
      await new Promise<void>((resolve) => stream.ws.once('close', () => resolve()));
      open.delete(stream);
      if (!isOver) await delay(AGAIN_MS);
    }
  }

  const listening = SPACES.map(listenTo);
  return {
    heardAt,
    async stop() {
      isOver = true;
      for (const stream of open) stream.ws.terminate();
      await Promise.all(listening);
    },
  };
}
