import { createKey } from '@yardmaster/store';
import { HttpClient } from '../support/http.js';
import type { Ground } from './fault.js';
import type { Installation } from './installation.js';
import type { KeyUse } from './load/key-user.js';
import type { Found } from './rules/rule.js';

/** For whoever waits behind others on a busy machine: clients, the network, and the processes. */
export const BUSY_MS = 500;

/** A space that has a job in it now and then. */
const SPACE = 'yard-a';

/** Make a key that may read. */
export async function makeReader({ store }: Installation) {
  const request = { name: 'fault', scopes: ['jobs:read' as const], spaceId: SPACE, expiresAt: null };
  const { id, key } = await createKey(store, request);
  return { id, key, spaceId: SPACE };
}

/** Revoke a key through an API. */
export async function revoke({ apis, key }: Installation, keyId: string): Promise<void> {
  const client = new HttpClient(apis[0]?.url as string);
  await client.call('DELETE', `/api/v1/keys/${keyId}`, { key });
  client.close();
}

export interface Revoked {
  use: KeyUse;
  /** When it was revoked, and when nobody looked any more, epoch milliseconds. */
  revokedAt: number;
  stoppedAt: number;
  withinMs: number;
}

/** What is put to the test here, whatever else a fault is about. */
const promise = 'P14';

/** Tell of calls that were served too long after the revocation, and of streams that were open for too long. */
export function judgeRevoked({ found, figures }: Ground, { use, revokedAt, stoppedAt, withinMs }: Revoked): void {
  const late = (what: Omit<Found, 'jobId' | 'damage'>) => found({ promise, jobId: null, damage: 'late', ...what });
  const served = use.calls.filter(({ status }) => status < 400);
  const streams = use.streams.map((stream) => ({ ...stream, openMs: (stream.closedAt ?? stoppedAt) - revokedAt }));
  const isAfter = ({ openedAt }: { openedAt: number }) => openedAt >= revokedAt;
  figures['streams opened after it'] = streams.filter(isAfter).length;
  const tell = (name: string, times: number[]) => {
    figures[name] = Math.max(figures[name] ?? 0, ...times);
  };
  tell(
    'last call served, ms',
    served.map(({ sentAt }) => sentAt - revokedAt),
  );
  tell(
    'last stream closed, ms',
    streams.map(({ openMs }) => openMs),
  );
  for (const { api, sentAt } of served)
    if (sentAt > revokedAt + withinMs + BUSY_MS) late({ says: `${api} served it after ${sentAt - revokedAt} ms` });
  for (const { gateway, openedAt, openMs, code } of streams) {
    const name = `a stream of ${gateway} that was opened ${openedAt - revokedAt} ms after`;
    if (openMs > withinMs + BUSY_MS) late({ says: `${name} was open for ${openMs} ms` });
    else if (code !== 1008) found({ promise, jobId: null, says: `${name} was closed with ${code}` });
  }
  for (const { api, status } of use.calls)
    if (status !== 200 && status !== 401)
      found({ promise, jobId: null, says: `${api} answered a revoked key ${status}` });
}

/** Of other keys no call fails; streams close only when nobody can tell what they missed. */
export function judgeUntouched({ found }: Ground, { calls, streams }: KeyUse, isCut: boolean): void {
  for (const { api, status } of calls)
    if (status !== 200) found({ promise, jobId: null, says: `${api} answered another key ${status}` });
  for (const { gateway, code } of streams)
    if (code !== null && !(isCut && code === 1012))
      found({ promise, jobId: null, says: `${gateway} closed a stream of another key with ${code}` });
}
