import { setTimeout as delay } from 'node:timers/promises';
import { KEY_BELIEVED_MS } from '@yardmaster/store';
import type { Fault } from '../fault.js';
import type { Installation } from '../installation.js';
import { type KeyUse, useKey } from '../load/key-user.js';
import { BUSY_MS, judgeRevoked, judgeUntouched, makeReader, revoke } from '../revocation.js';

/** In the last moment in which the key may be believed: those streams have to be closed in time as well. */
const LAST_MOMENT_MS = KEY_BELIEVED_MS - 600;

interface When {
  variant: string;
  how: string;
  /** What opens others from hearing of it. */
  prepare(installation: Installation): void;
  revoke(installation: Installation, keyId: string): Promise<unknown>;
  withinMs: number;
  /** So long after it streams are opened again. */
  againFromMs: number;
}

const WHEN: When[] = [
  { variant: 'heard', how: '', prepare: () => undefined, revoke, withinMs: 1_000, againFromMs: 0 },
  {
    variant: 'unheard',
    how: ', and all subscribers are half-open',
    prepare({ apps }) {
      for (const { proxy } of apps) proxy.loseSubscribers();
    },
    revoke,
    withinMs: 5_000,
    againFromMs: 0,
  },
  {
    variant: 'unannounced',
    how: ', and who did it dies before it tells',
    prepare: () => undefined,
    revoke: ({ connection, store }, keyId) => connection.hdel(store.keys.apiKeys, keyId),
    withinMs: 5_000,
    againFromMs: LAST_MOMENT_MS,
  },
];

export const faults: Fault[] = WHEN.map(({ variant, how, prepare, revoke: revokeIt, withinMs, againFromMs }) => ({
  id: 'F27',
  variant,
  title: `API keys are revoked${how}`,
  promises: ['P14'],
  stops: [], // Lost subscribers hinder nobody but watchers, whose streams close.
  closes: variant === 'unheard' ? [1012] : [],
  lastsMs: 1_000,
  installation: { gateways: 2 },
  async inject(ground) {
    const { installation } = ground;
    const [held, fresh, other] = await Promise.all([
      makeReader(installation),
      makeReader(installation),
      makeReader(installation),
    ]);
    let revokedAt = Number.POSITIVE_INFINITY;
    const opens = () => Date.now() >= revokedAt + againFromMs;
    const users = [
      await useKey(installation, { ...held, streams: 'held' }),
      await useKey(installation, { ...other, streams: 'held' }),
      await useKey(installation, { ...fresh, streams: 'fresh', opens }),
    ];
    prepare(installation);
    for (const { id } of [held, fresh]) await revokeIt(installation, id);
    revokedAt = Date.now();
    await delay(withinMs + 2 * BUSY_MS);
    const stoppedAt = Date.now();
    await Promise.all(users.map((user) => user.stop()));
    const [heldUse, otherUse, freshUse] = users.map(({ use }) => use) as [KeyUse, KeyUse, KeyUse];
    judgeRevoked(ground, { use: heldUse, revokedAt, stoppedAt, withinMs });
    judgeRevoked(ground, { use: freshUse, revokedAt, stoppedAt, withinMs });
    judgeUntouched(ground, otherUse, variant === 'unheard');
    return async () => undefined;
  },
}));
