import { type CreatedApiKey, type RotateKeyRequest, YardmasterError } from '@yardmaster/protocol';
import { runScript } from '../script/run-script.js';
import { replace_key } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { readKey } from './api-keys.js';
import { checkMayHold } from './bounds.js';
import { hashOfSecret, newSecret, oldestSecretAt, type Principal, type StoredKey, withSecret } from './secrets.js';

/** A rotated key, and the number of the oldest accepted secret. */
export interface Rotated {
  key: CreatedApiKey;
  oldestSecret: number;
}

/**
 * Give a key a new secret. The previous secret keeps working until the overlap ends; earlier ones do not. A message makes
 * every process read the key again.
 *
 * @param caller caller whose key limits what it may rotate; null for no limit
 * @throws KEY_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function rotateKey(
  store: Store,
  id: string,
  { overlapSeconds }: RotateKeyRequest,
  caller: Principal | null = null,
): Promise<Rotated> {
  const { keys } = store;
  for (;;) {
    const found = await readKey(store, id);
    if (found === null) throw new YardmasterError('KEY_NOT_FOUND');
    const { key, record, now } = found;
    if (caller !== null) checkMayHold(key, caller);

    const secret = newSecret();
    const { previous: _, secretHash, rotations = 0, ...kept } = key;
    const until = new Date(now + Math.round(overlapSeconds * 1_000)).toISOString();
    const rotated: StoredKey = {
      ...kept,
      secretHash: hashOfSecret(secret),
      rotations: rotations + 1,
      ...(overlapSeconds > 0 && { previous: { secretHash, until } }),
    };
    const oldestSecret = oldestSecretAt(rotated, now);
    const { outcome } = await runScript(store, replace_key, {
      keys: { records: keys.apiKeys },
      args: {
        ...{ keyId: id, expected: record, record: JSON.stringify(rotated) },
        ...{ channel: keys.revocations, message: `${id} ${oldestSecret}` },
      },
    });
    // Another call has rotated or revoked the key in the meantime.
    if (outcome === 'CHANGED') continue;
    return { key: withSecret(rotated, secret), oldestSecret };
  }
}
