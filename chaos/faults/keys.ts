import { setTimeout as delay } from 'node:timers/promises';
import { KEY_CACHE_MS, revokeKey } from '@yardmaster/store';
import type { Installation } from '../installation/installation.js';
import { checkRevoked, checkUntouched, REVOKED_MS, revoke, SLOW_MS, useNewKey } from '../load/key-use.js';
import type { Fault } from '../runs/fault.js';

/** Reopen streams just before a cached key expires. They must also be closed in time. */
const LAST_MOMENT_MS = KEY_CACHE_MS - 600;
const NOT_RECEIVED_MS = 5_000; // Maximum time for which a process that does not receive a revocation accepts the key.

interface Way {
  name: `F27-${string}`;
  how: string;
  prepare?(installation: Installation): void; // Prevent the processes from receiving the revocation.
  revoke(installation: Installation, keyId: string): Promise<unknown>;
  withinMs: number;
  againFromMs: number; // Time after the revocation at which streams are reopened.
}

const WAYS: Way[] = [
  { name: 'F27-published', how: '', revoke, withinMs: REVOKED_MS, againFromMs: 0 },
  {
    name: 'F27-not-received',
    how: ', and all subscribers are half-open',
    prepare({ apps }) {
      for (const { proxy } of apps) proxy.loseSubscribers();
    },
    revoke,
    withinMs: NOT_RECEIVED_MS,
    againFromMs: 0,
  },
  {
    name: 'F27-not-published',
    how: ', and the announcement of the revocation is lost',
    revoke({ store }, keyId) {
      const { keys } = store; // The revocation is published on a channel without subscribers.
      return revokeKey({ ...store, keys: { ...keys, revocations: `${keys.revocations}:lost` } }, keyId);
    },
    withinMs: NOT_RECEIVED_MS,
    againFromMs: LAST_MOMENT_MS,
  },
];

export const faults: Fault[] = WAYS.map(({ name, how, prepare, revoke: revokeIt, withinMs, againFromMs }) => ({
  name,
  title: `API keys are revoked${how}`,
  promises: ['P14'],
  stops: [], // Lost subscriptions only close streams.
  closes: name === 'F27-not-received' ? [1012] : [],
  lastsMs: 1_000,
  installation: { gateways: 2 },
  async inject(context) {
    const { installation } = context;
    let revokedAt = Number.POSITIVE_INFINITY;
    const mayOpen = () => Date.now() >= revokedAt + againFromMs;
    const [kept, reopened] = [await useNewKey(installation), await useNewKey(installation, mayOpen)];
    const other = await useNewKey(installation);
    prepare?.(installation);
    for (const { keyId } of [kept, reopened]) await revokeIt(installation, keyId);
    revokedAt = Date.now();
    await delay(withinMs + 2 * SLOW_MS);
    const stoppedAt = Date.now();
    await Promise.all([kept, reopened, other].map((user) => user.stop()));
    const mayCut = name === 'F27-not-received';
    for (const { use } of [kept, reopened]) checkRevoked(context, use, { revokedAt, stoppedAt, withinMs, mayCut });
    checkUntouched(context, other.use, mayCut);
    return undefined;
  },
}));
