import { setTimeout as delay } from 'node:timers/promises';
import { createKey } from '@yardmaster/store';
import { HttpClient } from '../../test/support/http.js';
import { StreamClient } from '../../test/support/stream-client.js';
import { until } from '../../test/support/until.js';
import { before, closeDuring } from '../checker/stalls.js';
import type { Installation } from '../installation/installation.js';
import type { FaultContext } from '../runs/fault.js';
import { repeat } from '../runs/waiting.js';
import { SPACES } from './plan.js';

export const REVOKED_MS = 1_000; // Maximum time until a published revocation takes effect.
export const SLOW_MS = 500; // Extra time for clients, network and processes on a slow machine.

const CALL_EVERY_MS = 20;
const STREAM_EVERY_MS = 100;

/** Results of a client that used an API key continuously, with every API and gateway. Times are epoch milliseconds. */
interface KeyUse {
  calls: { api: string; sentAt: number; endedAt: number; status: number }[];
  streams: { gateway: string; openedAt: number; closedAt: number | null; code: number | null }[];
}

export type KeyUser = Awaited<ReturnType<typeof useNewKey>>;

/** Create a key and use it everywhere. @param mayOpen whether to open streams now. Default: keep two per gateway open */
export async function useNewKey({ apis, gateways, store }: Installation, mayOpen?: () => boolean) {
  const spaceId = SPACES[0] as string;
  const { id, key } = await createKey(store, { name: 'fault', scopes: ['jobs:read'], spaceId, expiresAt: null });
  const use: KeyUse = { calls: [], streams: [] };
  const open = new Set<StreamClient>();
  let isOver = false;

  async function call(client: HttpClient): Promise<void> {
    const sentAt = Date.now();
    const { status } = await client.call('GET', `/api/v1/spaces/${spaceId}/jobs?limit=1`, { key });
    use.calls.push({ api: client.url, sentAt, endedAt: Date.now(), status });
  }

  /** @returns whether the stream was opened */
  async function watch(gateway: string): Promise<boolean> {
    const openedAt = Date.now();
    const stream = await StreamClient.open(gateway, `/spaces/${spaceId}?token=${key}`).catch(() => null);
    if (stream === null) return false;
    const seen: KeyUse['streams'][number] = { gateway, openedAt, closedAt: null, code: null };
    use.streams.push(seen);
    open.add(stream);
    const close = (code: number) => !isOver && Object.assign(seen, { closedAt: Date.now(), code });
    stream.ws.once('close', close);
    if (stream.closed !== null) close(stream.closed.code);
    return true;
  }

  const clients = apis.map(({ url }) => new HttpClient(url));
  const urls = gateways.map(({ url }) => url);
  await Promise.all(clients.map(call));
  for (const url of [...urls, ...urls]) await until(() => watch(url));
  if (mayOpen) {
    await Promise.all([...open].map((stream) => stream.close()));
    use.streams.length = 0;
  }
  const ends = [
    ...clients.map((client) => repeat(CALL_EVERY_MS, () => call(client))),
    ...urls.map((url) => repeat(STREAM_EVERY_MS, async () => mayOpen?.() && watch(url))),
  ];
  return {
    keyId: id,
    use,
    async stop(): Promise<void> {
      isOver = true;
      try {
        await Promise.all(ends.map((end) => end()));
      } finally {
        for (const client of clients) client.close();
        for (const stream of open) stream.ws.terminate();
      }
    },
  };
}

/** Revoke a key through an API. */
export async function revoke({ apis, key }: Installation, keyId: string): Promise<void> {
  const client = new HttpClient(apis[0]?.url as string);
  await client.call('DELETE', `/api/v1/keys/${keyId}`, { key });
  client.close();
}

/** Revoke a key that is in use, and check that no process accepts it a second later. */
export async function revokeOne(context: FaultContext): Promise<void> {
  const user = await useNewKey(context.installation);
  await revoke(context.installation, user.keyId);
  const revokedAt = Date.now();
  await delay(REVOKED_MS + 2 * SLOW_MS);
  const stoppedAt = Date.now();
  await user.stop();
  checkRevoked(context, user.use, { revokedAt, stoppedAt, withinMs: REVOKED_MS });
}

const promise = 'P14';

/** Return the span in which a stall of the machine may have caused this status, if it is 503. */
const unavailableDuring = (status: number, at: number) => (status === 503 ? { during: before(at) } : {});

export interface Revocation {
  revokedAt: number; // When the key was revoked, and when its use ended, epoch milliseconds.
  stoppedAt: number;
  withinMs: number; // How long the key may still be accepted.
  mayCut?: boolean; // Whether streams may be closed with 1012 first, because their gateway has lost its subscriptions.
}

/** Report calls and streams that were served too long after the revocation. */
export function checkRevoked({ found, figures }: FaultContext, use: KeyUse, revocation: Revocation): void {
  const { revokedAt, stoppedAt, withinMs, mayCut = false } = revocation;
  /** @returns whether it was too late */
  const measure = (figure: string, at: number, says: string): boolean => {
    const ms = at - revokedAt;
    figures[figure] = Math.max(figures[figure] ?? 0, ms);
    if (ms <= withinMs + SLOW_MS) return false;
    found(`${says} ${ms} ms`, { promise, damage: 'late', during: { from: revokedAt, until: at } });
    return true;
  };
  figures['streams opened after it'] = use.streams.filter(({ openedAt }) => openedAt >= revokedAt).length;
  for (const { api, sentAt, endedAt, status } of use.calls) {
    if (status !== 200 && status !== 401)
      found(`${api} returned ${status} for a revoked key`, { promise, ...unavailableDuring(status, endedAt) });
    if (status < 400) measure('last call served, ms', sentAt, `${api} served it after`);
  }
  for (const { gateway, openedAt, closedAt, code } of use.streams) {
    const name = `a stream of ${gateway} that was opened ${openedAt - revokedAt} ms after`;
    const at = closedAt ?? stoppedAt;
    const isLate = measure('last stream closed, ms', at, `${name} was open for`);
    if (!isLate && code !== 1008 && !(mayCut && code === 1012))
      found(`${name} was closed with ${code}`, { promise, ...closeDuring(code, at) });
  }
}

/** Report calls and streams of another key that failed. @param mayCut whether streams may be closed with 1012 */
export function checkUntouched({ found }: FaultContext, { calls, streams }: KeyUse, mayCut: boolean): void {
  for (const { api, status, endedAt } of calls)
    if (status !== 200)
      found(`${api} returned ${status} for another key`, { promise, ...unavailableDuring(status, endedAt) });
  for (const { gateway, closedAt, code } of streams)
    if (closedAt !== null && !(mayCut && code === 1012))
      found(`${gateway} closed a stream of another key with ${code}`, { promise, ...closeDuring(code, closedAt) });
}
