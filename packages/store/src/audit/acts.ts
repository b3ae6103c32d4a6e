import type { AuditEntry, AuditPage, AuditQuery } from '@yardmaster/protocol';
import { call } from '../call.js';
import { runScript } from '../script/run-script.js';
import { append_act } from '../script/scripts.generated.js';
import type { Caller, Store } from '../store.js';
import { isoOf } from '../time.js';

/** Acts kept, the newest. */
const KEPT = 10_000;

/** An act before it is stored. */
export type Act = Omit<AuditEntry, 'id' | 'at'>;

/**
 * Append an act to the audit. It works when memory is full.
 *
 * @throws UNAVAILABLE
 */
export async function appendAct(store: Store, { details, ...act }: Act): Promise<void> {
  const fields = Object.entries(act).flatMap(([name, value]) => (value === null ? [] : [name, value]));
  await runScript(store, append_act, {
    keys: { audit: store.keys.audit },
    args: { most: KEPT },
    rest: [...fields, 'details', JSON.stringify(details)],
  });
}

/** Acts read at once for a caller that is bound to a space, and in one call, so that a page of it may be short. */
const READ_AT_ONCE = 500;
const READ_MOST = 2_000;

/**
 * List the acts that a caller may see, newest first: all, or those in the space that the caller is bound to.
 *
 * @throws UNAVAILABLE
 */
export async function listActs(store: Store, { spaceId }: Caller, { limit, cursor }: AuditQuery): Promise<AuditPage> {
  // One more than the page shows whether there is another page.
  const count = spaceId === null ? limit + 1 : READ_AT_ONCE;
  const found: AuditEntry[] = [];
  let last = cursor;
  let isEnd = false;
  for (let read = 0; found.length <= limit && read < READ_MOST && !isEnd; read += count) {
    const acts = await readActs(store, last, count);
    isEnd = acts.length < count;
    last = acts.at(-1)?.id ?? last;
    found.push(...acts.filter((act) => spaceId === null || act.spaceId === spaceId));
  }
  const entries = found.slice(0, limit);
  if (found.length > limit) return { entries, nextCursor: (entries.at(-1) as AuditEntry).id };
  return { entries, nextCursor: isEnd ? null : (last as string) };
}

/** Read acts that are older than the last one, or the newest. */
async function readActs(store: Store, last: string | undefined, count: number): Promise<AuditEntry[]> {
  const from = last === undefined ? '+' : `(${last}`;
  const found = await call(store, 'xrevrange', store.redis.xrevrange(store.keys.audit, from, '-', 'COUNT', count));
  return found.map(([id, fields]) => entryOf(id, fields));
}

function entryOf(id: string, list: readonly string[]): AuditEntry {
  const fields = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) fields.set(list[i] as string, list[i + 1] as string);
  const text = (name: string) => fields.get(name) ?? '';
  return {
    id,
    at: isoOf(text('at')),
    keyId: text('keyId'),
    keyName: text('keyName'),
    action: text('action'),
    spaceId: fields.get('spaceId') ?? null,
    jobId: fields.get('jobId') ?? null,
    address: text('address'),
    requestId: text('requestId'),
    details: JSON.parse(text('details')),
  };
}
