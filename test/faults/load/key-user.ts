import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient } from '../../support/http.js';
import { StreamClient } from '../../support/stream-client.js';
import type { Installation } from '../installation.js';

/** What somebody got who used an API key all the time, at every API and every gateway. Times are epoch milliseconds. */
export interface KeyUse {
  /** Calls that were sent then, and what they were answered. */
  calls: { api: string; sentAt: number; status: number }[];
  streams: { gateway: string; openedAt: number; closedAt: number | null; code: number | null }[];
}

export interface KeyUser {
  use: KeyUse;
  stop(): Promise<void>;
}

export interface UseOptions {
  key: string;
  spaceId: string;
  /** `held`: two streams at each gateway stay open. `fresh`: they are closed, and others opened from some moment on. */
  streams: 'held' | 'fresh';
  /** Whether it is that moment. */
  opens?: () => boolean;
}

const CALL_EVERY_MS = 20;
const STREAM_EVERY_MS = 100;

/** Use a key from now on. Resolves once it was served everywhere. */
export async function useKey(
  { apis, gateways }: Installation,
  { key, spaceId, streams, opens = () => true }: UseOptions,
): Promise<KeyUser> {
  const use: KeyUse = { calls: [], streams: [] };
  const open = new Set<StreamClient>();
  let isOver = false;

  async function call(client: HttpClient): Promise<void> {
    const sentAt = Date.now();
    const { status } = await client.call('GET', `/api/v1/spaces/${spaceId}/jobs?limit=1`, { key });
    use.calls.push({ api: client.url, sentAt, status });
  }

  /** @returns whether it was let in */
  async function watch(gateway: string): Promise<boolean> {
    const openedAt = Date.now();
    const stream = await StreamClient.open(gateway, `/spaces/${spaceId}?token=${key}`).catch(() => null);
    if (stream === null) return false;
    const told: KeyUse['streams'][number] = { gateway, openedAt, closedAt: null, code: null };
    use.streams.push(told);
    open.add(stream);
    const close = (code: number) => !isOver && Object.assign(told, { closedAt: Date.now(), code });
    stream.ws.once('close', close);
    if (stream.closed !== null) close(stream.closed.code);
    return true;
  }

  async function again(everyMs: number, act: () => Promise<unknown>): Promise<void> {
    while (!isOver) {
      await act();
      await delay(everyMs);
    }
  }

  const clients = apis.map(({ url }) => new HttpClient(url));
  const urls = gateways.map(({ url }) => url);
  await Promise.all(clients.map(call));
  for (const url of [...urls, ...urls]) if (!(await watch(url))) throw new Error('a good key was refused by a gateway');
  if (streams === 'fresh') {
    await Promise.all([...open].map((stream) => stream.close()));
    use.streams.length = 0;
  }
  const going = Promise.all([
    ...clients.map((client) => again(CALL_EVERY_MS, () => call(client))),
    ...(streams === 'fresh' ? urls.map((url) => again(STREAM_EVERY_MS, async () => opens() && watch(url))) : []),
  ]);
  going.catch(() => undefined); // Told by `stop`.

  return {
    use,
    async stop() {
      isOver = true;
      try {
        await going;
      } finally {
        for (const client of clients) client.close();
        for (const stream of open) stream.ws.terminate();
      }
    },
  };
}
