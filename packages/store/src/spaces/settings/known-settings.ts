import type { SpaceSettings } from '@yardmaster/protocol';
import { PARTITION_TAGS, partitionOf } from '../../keys.js';

/** Settings that a call needs to know of the partition of its job, because it does not know the job's space. */
const ASKED_BY_PARTITION = ['anonymousStreams', 'requireDeliveryToken', 'retention'] as const;

/**
 * The settings of all spaces, as this process knows them. They are read as a whole and not for each call, so that a
 * space without settings costs its calls nothing but a look-up. A store whose process does not watch them knows none.
 * See space-settings-watch.ts of the server.
 */
export class KnownSettings {
  readonly #bySpace = new Map<string, SpaceSettings>();
  readonly #partitions = new Map<string, Known>(PARTITION_TAGS.map((tag) => [tag, NOTHING]));

  /** Return the settings of a space; undefined when it has none. */
  of(spaceId: string): SpaceSettings | undefined {
    return this.#bySpace.get(spaceId);
  }

  /** Whether any space of a partition has switched this on, or has set it. */
  isOnIn(partition: string, name: (typeof ASKED_BY_PARTITION)[number]): boolean {
    return this.#partitions.get(partition)?.on.has(name) === true;
  }

  /** Return the version of the settings of a partition that this process knows; null for a partition without any. */
  versionOf(partition: string): string | null {
    return this.#partitions.get(partition)?.version ?? null;
  }

  /** Change the settings of a space, until those of its partition are read again, whose version is another one then. */
  change(spaceId: string, settings: SpaceSettings): void {
    const partition = partitionOf(spaceId);
    const { version, spaces, on } = this.#partitions.get(partition) ?? NOTHING;
    this.#bySpace.set(spaceId, settings);
    this.#partitions.set(partition, { version, spaces: [...spaces, spaceId], on: new Set([...on, ...onIn(settings)]) });
  }

  /** Replace the settings of a partition by what Redis has. @param fields of its hash, see keys.ts */
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

/** The settings of a partition. */
interface Known {
  version: string | null;
  spaces: readonly string[];
  /** Settings that at least one of its spaces has switched on. */
  on: ReadonlySet<string>;
}

const NOTHING: Known = { version: null, spaces: [], on: new Set() };

/**
 * Write settings as they are stored: numbers that scripts need, which parse no JSON, and the settings as JSON. The numbers
 * are the retention of a completed, a dead and a killed job, in milliseconds, `maxPending` and `maxBytes`; `-` for none.
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

/** Read settings as they are stored. Damaged ones, which fsck reports, count as none. */
export function settingsOfText(text: string | null): SpaceSettings {
  try {
    return JSON.parse((text ?? '').replace(/^(?:\S+ ){5}(?={)/, '')) as SpaceSettings;
  } catch {
    return {};
  }
}
