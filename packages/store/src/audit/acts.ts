import type { AuditEntry, AuditPage, AuditQuery } from '@yardmaster/protocol';
import { call } from '../call.js';
import { AUDIT_STREAMS, type AuditStream } from '../keys.js';
import { runScript } from '../script/run-script.js';
import { append_act } from '../script/scripts.generated.js';
import type { Caller, Store } from '../store.js';
import { isoOf } from '../time.js';

/** Maximum number of acts per stream. */
const KEPT = 10_000;

/** An act before it is stored. */
export type Act = Omit<AuditEntry, 'id' | 'at'>;

/** Actions in the stream `keys`; all others are in `jobs`. */
const OF_KEYS: ReadonlySet<string> = new Set([
  ...['key.create', 'key.list', 'key.rotate', 'key.revoke', 'secret.read', 'space.settings'],
]);

/**
 * Append an act to the audit, even on a full Redis.
 *
 * @throws UNAVAILABLE
 */
export async function appendAct(store: Store, { details, ...act }: Act): Promise<void> {
  const fields = Object.entries(act).flatMap(([name, value]) => (value === null ? [] : [name, value]));
  await runScript(store, append_act, {
    keys: { audit: store.keys.audit(OF_KEYS.has(act.action) ? 'keys' : 'jobs') },
    args: { most: KEPT },
    rest: [...fields, 'details', JSON.stringify(details)],
  });
}

/** Acts per read, and per call, for a caller bound to a space. Its pages may therefore be short. */
const READ_AT_ONCE = 500;
const READ_MOST = 2_000;

/**
 * List the acts that a caller may see, newest first: all of them, or those in the space that the caller is bound to.
 *
 * @throws UNAVAILABLE
 */
export async function listActs(store: Store, { spaceId }: Caller, { limit, cursor }: AuditQuery): Promise<AuditPage> {
  // One extra act tells whether there is another page.
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

/** Read acts of both streams: those older than `last`, or else the newest. */
async function readActs(store: Store, last: string | undefined, count: number): Promise<AuditEntry[]> {
  const read = async (stream: AuditStream) => {
    const from = last === undefined ? '+' : newestBelow(last, stream);
    const key = store.keys.audit(stream);
    const found = await call(store, 'xrevrange', store.redis.xrevrange(key, from, '-', 'COUNT', count));
    return found.map(([id, fields]) => entryOf(idOf(id, stream), fields));
  };
  const acts = (await Promise.all(AUDIT_STREAMS.map(read))).flat();
  return acts.sort((a, b) => compare(partsOf(b.id), partsOf(a.id))).slice(0, count);
}

const partsOf = (id: string) => id.split('-').map(Number) as [ms: number, seq: number];
const compare = ([ms, seq]: [number, number], [otherMs, otherSeq]: [number, number]) => ms - otherMs || seq - otherSeq;

/** Convert an ID in a stream to an entry ID. Those of `keys` are even and those of `jobs` odd, so that IDs are unique. */
function idOf(stored: string, stream: AuditStream): string {
  const [ms, seq] = partsOf(stored);
  return `${ms}-${seq * AUDIT_STREAMS.length + AUDIT_STREAMS.indexOf(stream)}`;
}

/** Return the bound of a stream below which the entries are older than the entry with this ID. */
function newestBelow(id: string, stream: AuditStream): string {
  const [ms, seq] = partsOf(id);
  return `(${ms}-${Math.ceil((seq - AUDIT_STREAMS.indexOf(stream)) / AUDIT_STREAMS.length)}`;
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
