import type { Logger } from '@yardmaster/runtime';
import {
  evicts,
  type RedisFault,
  type RedisSettings,
  readRedisSettings,
  redisFaultsOf,
  type Store,
} from '@yardmaster/store';
import type { Registry } from 'prom-client';
import { type CheckedSettings, redisSettingsMetrics } from './metrics/redis-settings-metrics.js';

/** Between two checks. */
const EVERY_MS = 30_000;

const SENTENCES: Record<RedisFault, string> = {
  evicts: 'Redis deletes jobs when its memory is full: maxmemory-policy must be noeviction',
  evicted: 'Redis has deleted keys because its memory was full: run fsck',
  aof_write: 'Redis cannot write its append-only file: jobs are lost when it ends',
  aof_rewrite: 'Redis cannot rewrite its append-only file, which grows until the disk is full',
};

export interface RedisSettingsWatchOptions {
  store: Store;
  log: Logger;
  registry: Registry;
  /** Whether jobs are created although Redis would evict some. */
  allowEviction: boolean;
  /** Between two checks, milliseconds. Default 30 000. */
  everyMs?: number | undefined;
}

/** Looks again and again whether Redis is set up to keep what it is given: its operator may change that at any time. */
export interface RedisSettingsWatch {
  /**
   * Check now: log what is new, and refuse new jobs while Redis would evict some.
   *
   * @throws UNAVAILABLE when no primary answers; what was known stays
   */
  check(): Promise<void>;
  /** Check every so often from now on. */
  start(): void;
  stop(): void;
}

/** A line of the log that is written once, when what it says begins. */
interface Note {
  isUnsafe: boolean;
  text: string;
  primary: string;
  fields: object;
}

/** Make the watch of Redis' settings. One primary that evicts is enough to refuse new jobs in every space. */
export function createRedisSettingsWatch(options: RedisSettingsWatchOptions): RedisSettingsWatch {
  const { store, log, allowEviction, everyMs = EVERY_MS } = options;
  const metrics = redisSettingsMetrics(options.registry);
  let last = new Map<string, RedisSettings>();
  let told = new Map<string, Note>();
  let timer: NodeJS.Timeout | undefined;

  function tell(notes: readonly Note[]): void {
    const current = new Map(notes.map((note) => [`${note.primary} ${note.text}`, note]));
    for (const [id, { isUnsafe, fields, text }] of current) {
      if (!told.has(id)) log[isUnsafe ? 'error' : 'warn'](fields, text);
    }
    const isUnsafe = (all: typeof told) => [...all.values()].some((note) => note.isUnsafe);
    if (isUnsafe(told) && !isUnsafe(current)) log.info('Redis keeps its jobs again');
    told = current;
  }

  async function check(): Promise<void> {
    const all = await readRedisSettings(store).catch((error) => {
      metrics.show([]); // Old values would look like new ones.
      throw error;
    });
    const rows = all.map((settings) => ({ settings, faults: redisFaultsOf(settings, last.get(settings.primary)) }));
    store.storage.isSafe = allowEviction || !all.some(evicts);
    metrics.show(rows);
    tell(rows.flatMap(notesOf));
    last = new Map(all.map((settings) => [settings.primary, settings]));
  }

  return {
    check,
    start() {
      timer = setInterval(() => check().catch(() => undefined), everyMs); // The connections tell of an outage.
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

function notesOf({ settings, faults }: CheckedSettings): Note[] {
  const { primary, policy, maxMemoryBytes, evictedKeys, isAppendOnly } = settings;
  const note = (isUnsafe: boolean, text: string, fields = {}) => ({
    isUnsafe,
    text,
    primary,
    fields: { primary, ...fields },
  });
  const notes = faults.map((fault) => note(true, SENTENCES[fault], { policy, maxMemoryBytes, evictedKeys }));
  // What works for now.
  if (policy !== 'noeviction' && !faults.includes('evicts')) {
    notes.push(note(false, `Redis may evict jobs: maxmemory-policy is ${policy}, it must be noeviction`));
  }
  if (!isAppendOnly) {
    notes.push(
      note(false, 'Redis keeps no append-only file: jobs created since its last snapshot are lost when it crashes'),
    );
  }
  return notes;
}
