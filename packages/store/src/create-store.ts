import type { RedisClient } from '@yardmaster/redis';
import { keyMap } from './keys.js';
import { createReadLimiter } from './limits/read-limiter.js';
import { NO_OBSERVER } from './observer.js';
import { sendAlone } from './script/run-script.js';
import { KnownSettings } from './spaces/settings/known-settings.js';
import { type Clock, STORE_DEFAULTS, type Store, type StoreSettings } from './store.js';

/** Reads that may be megabytes long and so need a read slot: this many at once, for each process. */
const READS_AT_ONCE = 4;

/**
 * Searches at once, for each process. They have read slots of their own, so that a read without filters does not wait
 * for them.
 */
const SEARCHES_AT_ONCE = 2;

/** A clock that is never known, so that no command has a deadline. */
const NO_CLOCK: Clock = { after: () => null, reportTooLate: () => undefined };

/**
 * Create a store on a connection, which the caller opens and closes. The connection must not send commands again,
 * because a script that ran although its reply was lost would run twice.
 *
 * @param bulk a second connection for long reads and logs; the first when left out
 * @param replicated connections for calls that a replica must confirm; none when left out
 * @param observer observer of the verbs; none when left out
 * @param clock by which calls get a deadline; none when left out, or when jobs follow a manual clock
 */
export function createStore(
  redis: RedisClient,
  settings: Partial<StoreSettings> = {},
  {
    bulk = redis,
    replicated = null,
    observer = NO_OBSERVER,
    clock = NO_CLOCK,
  }: Partial<Pick<Store, 'bulk' | 'replicated' | 'observer'> & { clock: Clock }> = {},
): Store {
  const all = { ...STORE_DEFAULTS, ...settings };
  // This stays below the budget of a request (`redisBudgetMs`), which would give no reason.
  const withinMs = all.redisTimeoutMs + 100;
  return {
    redis,
    bulk,
    replicated,
    unconfirmed: null,
    send: sendAlone,
    slots: { read: createReadLimiter(READS_AT_ONCE, withinMs), search: createReadLimiter(SEARCHES_AT_ONCE, withinMs) },
    keys: keyMap(all.keyPrefix),
    settings: all,
    known: {
      clock: all.isClockManual ? NO_CLOCK : clock,
      spaces: new KnownSettings(),
      isStorageSafe: true,
      idempotencySecret: null,
    },
    observer,
  };
}
