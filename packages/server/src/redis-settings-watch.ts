import { every, type Logger, type Service } from '@yardmaster/runtime';
import {
  evicts,
  namesOfPrimaries,
  type RedisFault,
  type RedisSettings,
  readRedisSettings,
  redisFaultsOf,
  type Store,
} from '@yardmaster/store';
import type { Registry } from 'prom-client';
import { type CheckedSettings, redisSettingsMetrics } from './metrics/redis.js';

/** Time between two checks, milliseconds. A Redis that evicts soon loses thousands of jobs, and INFO takes only 0.03 ms. */
const EVERY_MS = 2_000;

const SENTENCES: Record<RedisFault, string> = {
  evicts: 'Redis deletes jobs when its memory is full: maxmemory-policy must be noeviction',
  evicted: 'Redis has deleted keys because its memory was full: run fsck',
  aof_write: 'Redis cannot write its append-only file: jobs are lost when it stops',
  aof_rewrite: 'Redis cannot rewrite its append-only file, which will grow until the disk is full',
};

export interface RedisSettingsWatchOptions {
  store: Store;
  log: Logger;
  registry: Registry;
  /** Whether to accept new jobs even if Redis would evict some. */
  allowEviction: boolean;
  /** Time between two checks, milliseconds. Default 2,000. */
  everyMs?: number | undefined;
}

/** Periodically checks that Redis is configured to keep its data, which its operator may change at any time. */
export interface RedisSettingsWatch extends Service {
  /**
   * Check now: log new faults, and refuse new jobs while Redis would evict some.
   *
   * @throws UNAVAILABLE if no primary replies or all are loading their files; the previous results then stay
   */
  check(): Promise<void>;
}

/** A fault of a primary; logged once, when it first appears. */
interface Finding {
  isUnsafe: boolean;
  text: string;
  primary: string;
  fields: object;
}

/** Create the watch of Redis's settings. If any primary evicts, new jobs are refused in every space. */
export function createRedisSettingsWatch(options: RedisSettingsWatchOptions): RedisSettingsWatch {
  const { store, log, allowEviction, everyMs = EVERY_MS } = options;
  const metrics = redisSettingsMetrics(options.registry);
  let last = new Map<string, RedisSettings>();
  let logged = new Map<string, Finding>();

  function logChanges(findings: readonly Finding[]): void {
    const current = new Map(findings.map((finding) => [`${finding.primary} ${finding.text}`, finding]));
    for (const [id, { isUnsafe, fields, text }] of current) {
      if (!logged.has(id)) log[isUnsafe ? 'error' : 'warn'](fields, text);
    }
    const isUnsafe = (all: typeof logged) => [...all.values()].some((finding) => finding.isUnsafe);
    if (isUnsafe(logged) && !isUnsafe(current)) log.info('Redis no longer risks losing jobs');
    logged = current;
  }

  async function check(): Promise<void> {
    const all = await readRedisSettings(store).catch((error) => {
      metrics.show([]); // Old values would look like current ones.
      throw error;
    });
    // A primary that doesn't reply, or is loading its file, is assumed unchanged: it may be back before the next check.
    const names = namesOfPrimaries(store);
    const replied = new Map(all.map((settings) => [settings.primary, settings]));
    const current = new Map([...last, ...replied].filter(([name]) => names.has(name)));
    const rows = [...current].map(([name, settings]) => ({
      settings,
      faults: redisFaultsOf(settings, last.get(name)),
    }));
    store.known.isStorageSafe = allowEviction || ![...current.values()].some(evicts);
    metrics.show(rows.filter(({ settings }) => replied.has(settings.primary)));
    logChanges(rows.flatMap(findingsOf));
    last = current;
  }

  // The connections log outages.
  const repeated = every({ name: 'redis settings', ms: everyMs, run: () => check().catch(() => undefined) });
  return { ...repeated, check };
}

function findingsOf({ settings, faults }: CheckedSettings): Finding[] {
  const { primary, policy, maxMemoryBytes, evictedKeys, isAppendOnly } = settings;
  const finding = (isUnsafe: boolean, text: string, fields = {}) => ({
    isUnsafe,
    text,
    primary,
    fields: { primary, ...fields },
  });
  const findings = faults.map((fault) => finding(true, SENTENCES[fault], { policy, maxMemoryBytes, evictedKeys }));
  // Settings that do no harm for now.
  if (policy !== 'noeviction' && !faults.includes('evicts')) {
    findings.push(finding(false, `Redis may evict jobs: maxmemory-policy is ${policy} but must be noeviction`));
  }
  if (!isAppendOnly) {
    findings.push(
      finding(false, 'Redis keeps no append-only file: jobs created since its last snapshot are lost if it crashes'),
    );
  }
  return findings;
}
