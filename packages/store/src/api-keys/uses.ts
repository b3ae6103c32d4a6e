import { runScript } from '../script/run-script.js';
import { record_uses } from '../script/scripts.generated.js';
import type { Store } from '../store.js';

/** Keys per script. */
const KEYS_AT_ONCE = 100;

/**
 * Collect when API keys were last used in this process. Nothing is sent to Redis until `record`.
 */
export class KeyUses {
  /** Last use of each key, by `performance.now()`. */
  #used = new Map<string, number>();

  /** Note that a key is used now. */
  add(keyId: string): void {
    this.#used.set(keyId, performance.now());
  }

  /**
   * Record the uses in Redis.
   *
   * @throws UNAVAILABLE, STORAGE_FULL; the uses not recorded yet are then lost
   */
  async record(store: Store): Promise<void> {
    const used = [...this.#used];
    this.#used = new Map();
    const { apiKeys: records, keyUses } = store.keys;
    for (let i = 0; i < used.length; i += KEYS_AT_ONCE) {
      const now = performance.now();
      const rest = used.slice(i, i + KEYS_AT_ONCE).flatMap(([id, at]) => [id, Math.floor(now - at)]);
      await runScript(store, record_uses, { keys: { records, keyUses }, rest });
    }
  }
}
