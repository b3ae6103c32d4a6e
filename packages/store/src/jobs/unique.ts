import { type Unique, type UniqueRequest, uniqueOf } from '@yardmaster/protocol';

// The field `unique` of a record: `<until> <onConflict> <ttlSeconds> <key>`, so that Lua need not parse JSON. It is one
// field and not four, because List Jobs reads it of each job, and an ack of each job that it starts.

/** Write the unique key of a request as its record contains it. */
export function storedUniqueOf({ until, onConflict, ttlSeconds, key }: UniqueRequest): string {
  return `${until} ${onConflict} ${ttlSeconds ?? 0} ${key}`;
}

/** Return the unique key of a record as its job shows it; undefined for none, or for a damaged field. */
export function uniqueOfStored(text: string | null | undefined): Unique | undefined {
  if (!text) return undefined;
  const [, until, onConflict, ttlSeconds, key] = /^(\w+) (\w+) (\d+) (.+)$/s.exec(text) ?? [];
  if (key === undefined) return undefined;
  return uniqueOf({ key, until, onConflict, ttlSeconds: Number(ttlSeconds) || null } as UniqueRequest);
}
