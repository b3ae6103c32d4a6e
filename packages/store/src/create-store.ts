import type { RedisClient } from '@yardmaster/redis';
import { keyMap } from './keys.js';
import { createReadLimiter } from './limits/read-limiter.js';
import { NO_OBSERVER } from './observer.js';
import { sendAlone } from './script/run-script.js';
import { KnownSettings } from './spaces/settings/known-settings.js';
import { type Clock, STORE_DEFAULTS, type Store, type StoreSettings } from './store.js';

/** Maximum number of concurrent long reads per process. */
const READS_AT_ONCE = 4;

/**
 * Maximum number of concurrent searches per process. They have their own slots, so that a read without filters does not
 * wait for them.
 */
const SEARCHES_AT_ONCE = 2;

/** A clock that knows no time, so that no command has a deadline. */
const NO_CLOCK: Clock = { after: () => null, reportTooLate: () => undefined };

/**
 * Create a store on a connection, which the caller opens and closes. The connection must not retry commands, because a
 * script whose reply was lost would run twice.
 *
 * @param bulk connection for long reads and logs. Default: the first connection
 * @param replicated connections for calls that a replica must confirm. Default null
 * @param observer observer of the verbs. Default: none
 * @param clock clock for the deadlines of calls. Default: no deadlines; ignored when jobs follow a manual clock
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
  // Less than the budget of a request (`redisBudgetMs`), so that the error states the reason.
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
