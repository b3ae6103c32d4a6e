import { setTimeout as delay } from 'node:timers/promises';
import { KEY_CACHE_MS } from '@yardmaster/store';
import type { Installation } from '../installation/installation.js';
import { checkRevoked, checkUntouched, REVOKED_MS, revoke, SLOW_MS, useNewKey } from '../load/key-use.js';
import type { Fault } from '../runs/fault.js';

/** Streams that are opened in the last moment in which a key may be cached have to be closed in time as well. */
const LAST_MOMENT_MS = KEY_CACHE_MS - 600;
const UNHEARD_MS = 5_000; // A process that does not hear of a revocation accepts the key for no longer than this.

interface Way {
  name: `F27-${string}`;
  how: string;
  prepare?(installation: Installation): void; // What prevents the announcement.
  revoke(installation: Installation, keyId: string): Promise<unknown>;
  withinMs: number;
  againFromMs: number; // Time after the revocation from which streams are opened again.
}

const WAYS: Way[] = [
  { name: 'F27-heard', how: '', revoke, withinMs: REVOKED_MS, againFromMs: 0 },
  {
    name: 'F27-unheard',
    how: ', and all subscribers are half-open',
    prepare({ apps }) {
      for (const { proxy } of apps) proxy.loseSubscribers();
    },
    revoke,
    withinMs: UNHEARD_MS,
    againFromMs: 0,
  },
  {
    name: 'F27-unannounced',
    how: ', and the API that did it dies before it announces it',
    revoke: ({ connection, store }, keyId) => connection.hdel(store.keys.apiKeys, keyId),
    withinMs: UNHEARD_MS,
    againFromMs: LAST_MOMENT_MS,
  },
];

export const faults: Fault[] = WAYS.map(({ name, how, prepare, revoke: revokeIt, withinMs, againFromMs }) => ({
  name,
  title: `API keys are revoked${how}`,
  promises: ['P14'],
  stops: [], // Without subscribers only streams suffer, which close.
  closes: name === 'F27-unheard' ? [1012] : [],
  lastsMs: 1_000,
  installation: { gateways: 2 },
  async inject(context) {
    const { installation } = context;
    let revokedAt = Number.POSITIVE_INFINITY;
    const mayOpen = () => Date.now() >= revokedAt + againFromMs;
    const [held, fresh] = [await useNewKey(installation), await useNewKey(installation, mayOpen)];
    const other = await useNewKey(installation);
    prepare?.(installation);
    for (const { keyId } of [held, fresh]) await revokeIt(installation, keyId);
    revokedAt = Date.now();
    await delay(withinMs + 2 * SLOW_MS);
    const stoppedAt = Date.now();
    await Promise.all([held, fresh, other].map((user) => user.stop()));
    const mayCut = name === 'F27-unheard';
    for (const { use } of [held, fresh]) checkRevoked(context, use, { revokedAt, stoppedAt, withinMs, mayCut });
    checkUntouched(context, other.use, mayCut);
    return undefined;
  },
}));
