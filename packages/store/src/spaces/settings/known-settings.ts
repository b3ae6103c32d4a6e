import type { SpaceSettings } from '@yardmaster/protocol';
import { PARTITION_TAGS, partitionOf } from '../../keys.js';

/** Settings that calls look up by partition, because they do not know the space of their job. */
const ASKED_BY_PARTITION = ['anonymousStreams', 'requireDeliveryToken', 'retention'] as const;

/**
 * Settings of all spaces that this process knows. They are loaded for whole partitions, so that a call needs only a lookup.
 * In a process that does not watch them, all spaces have the defaults. See space-settings-watch.ts of the server.
 */
export class KnownSettings {
  readonly #bySpace = new Map<string, SpaceSettings>();
  readonly #partitions = new Map<string, Known>(PARTITION_TAGS.map((tag) => [tag, NOTHING]));

  /** Return the settings of a space; undefined when it has none. */
  of(spaceId: string): SpaceSettings | undefined {
    return this.#bySpace.get(spaceId);
  }

  /** Check whether any space of a partition has switched on or set a setting. */
  isOnIn(partition: string, name: (typeof ASKED_BY_PARTITION)[number]): boolean {
    return this.#partitions.get(partition)?.on.has(name) === true;
  }

  /** Return the version of a partition's settings that this process knows; null for a partition without settings. */
  versionOf(partition: string): string | null {
    return this.#partitions.get(partition)?.version ?? null;
  }

  /** Change the settings of a space. They are read again later, because the version of the partition differs. */
  change(spaceId: string, settings: SpaceSettings): void {
    const partition = partitionOf(spaceId);
    const { version, spaces, on } = this.#partitions.get(partition) ?? NOTHING;
    this.#bySpace.set(spaceId, settings);
    this.#partitions.set(partition, { version, spaces: [...spaces, spaceId], on: new Set([...on, ...onIn(settings)]) });
  }

  /** Replace the settings of a partition with those in Redis. @param fields fields of its hash; see keys.ts */
  replace(partition: string, fields: Record<string, string>): void {
    const { '': version, ...texts } = fields;
    for (const spaceId of this.#partitions.get(partition)?.spaces ?? []) this.#bySpace.delete(spaceId);
    const on = new Set<string>();
    for (const [spaceId, text] of Object.entries(texts)) {
      const settings = settingsOfText(text);
      this.#bySpace.set(spaceId, settings);
      for (const name of onIn(settings)) on.add(name);
    }
    this.#partitions.set(partition, { version: version ?? null, spaces: Object.keys(texts), on });
  }
}

const onIn = (settings: SpaceSettings) => ASKED_BY_PARTITION.filter((name) => settings[name]);

/** Settings of one partition. */
interface Known {
  version: string | null;
  spaces: readonly string[];
  /** Names of the settings that at least one space has switched on. */
  on: ReadonlySet<string>;
}

const NOTHING: Known = { version: null, spaces: [], on: new Set() };

/**
 * Format settings for Redis: the numbers that scripts need, because they parse no JSON, followed by all settings as JSON.
 * The numbers are the retention of completed, dead and killed jobs in milliseconds, `maxPending` and `maxBytes`; `-` for
 * none.
 */
export function storedSettings(settings: SpaceSettings): string {
  const { completedSeconds, deadSeconds, killedSeconds } = settings.retention ?? {};
  const ms = (seconds: number | undefined) => (seconds === undefined ? '-' : Math.ceil(seconds * 1_000));
  const numbers = [
    ms(completedSeconds),
    ms(deadSeconds),
    ms(killedSeconds),
    settings.maxPending ?? '-',
    settings.maxBytes ?? '-',
  ];
  return `${numbers.join(' ')} ${JSON.stringify(settings)}`;
}

/** Parse stored settings. Damaged settings count as none; fsck reports them. */
export function settingsOfText(text: string | null): SpaceSettings {
  try {
    return JSON.parse((text ?? '').replace(/^(?:\S+ ){5}(?={)/, '')) as SpaceSettings;
  } catch {
    return {};
  }
}
