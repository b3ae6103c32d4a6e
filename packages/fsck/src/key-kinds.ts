import { isJobId, STATUSES } from '@yardmaster/protocol';
import { AUDIT_STREAMS, type AuditStream, PARTITION_TAGS, partitionOf } from '@yardmaster/store';

/** Kind of a key with our prefix, determined by its name. */
export type KeyKind =
  | { kind: 'job'; jobId: string }
  | { kind: 'list'; jobId: string }
  /** An index of jobs. `spaceId` is null for the whole partition; `name` and `tag` are null for any. */
  | { kind: 'index'; partition: string; spaceId: string | null; name: string | null; tag: string | null }
  | { kind: 'names'; spaceId: string }
  /** The unique keys of a space. */
  | { kind: 'unique'; spaceId: string }
  | { kind: 'operation'; operationId: string }
  /** Operations of a space, or the running ones of a partition. Checking each operation finds what is missing there. */
  | { kind: 'operations' }
  | { kind: 'schedule'; partition: string; schedule: string }
  /** Schedules of a space, or those of a partition that have a next time. `spaceId` is null for a partition. */
  | { kind: 'schedules'; partition: string; spaceId: string | null }
  /** What is paused in a space. */
  | { kind: 'paused'; spaceId: string }
  | { kind: 'pauses' }
  /** The sums of the bytes of a space. */
  | { kind: 'bytes'; spaceId: string }
  | { kind: 'recounts' }
  | { kind: 'settings'; partition: string }
  | { kind: 'spaces'; partition: string }
  /** A point of the history of a space, or the list of points. It expires, and no other data determines its content. */
  | { kind: 'history' }
  | { kind: 'historyNames' }
  /** Number of the last step of counts added for a process. It expires. */
  | { kind: 'counted' }
  | { kind: 'stepped' }
  | { kind: 'barrier' }
  | { kind: 'meta' }
  | { kind: 'clock' }
  | { kind: 'apiKeys' }
  | { kind: 'apiKeyIndex' }
  | { kind: 'apiKeyChildren' }
  /** Revoked API keys that made keys which must still be revoked. A scheduler does that. */
  | { kind: 'revoking' }
  /** When API keys were last used. */
  | { kind: 'keyUses' }
  /** A stream of the audit. */
  | { kind: 'acts'; stream: AuditStream }
  /** Acts of one owner in a stream of the audit, and the number of acts of each owner. */
  | { kind: 'actsOf'; stream: AuditStream; owner: string }
  | { kind: 'actOwners'; stream: AuditStream }
  /** A BullMQ key. All of them can be lost, so they are not checked. */
  | { kind: 'bull' }
  | { kind: 'unknown' };

/** Required Redis type of each kind; null for any. */
export const TYPE_OF: Record<KeyKind['kind'], string | null> = {
  job: 'hash',
  list: 'list',
  index: 'zset',
  names: 'zset',
  unique: 'hash',
  operation: 'hash',
  operations: 'zset',
  schedule: 'hash',
  schedules: 'zset',
  paused: 'hash',
  pauses: 'zset',
  bytes: 'hash',
  recounts: 'zset',
  settings: 'hash',
  spaces: 'zset',
  history: 'hash',
  historyNames: 'zset',
  counted: 'string',
  stepped: 'string',
  barrier: 'string',
  meta: 'hash',
  clock: 'string',
  apiKeys: 'hash',
  apiKeyIndex: 'zset',
  apiKeyChildren: 'zset',
  revoking: 'set',
  keyUses: 'hash',
  acts: 'stream',
  actsOf: 'zset',
  actOwners: 'zset',
  bull: null,
  unknown: null,
};

const ANY = { name: null, tag: null };

const UNKNOWN: KeyKind = { kind: 'unknown' };

/** Indexes across all spaces of a partition. */
const PARTITION_INDEXES = new Set(['deadlines', 'due', 'callbacks']);

/** Indexes of a space, after its `/`. Not included: `queue/<name>` and `tag/<tag>`, which can contain any text. */
const SPACE_INDEXES = new Set(['jobs', 'queue', ...STATUSES.map((status) => `status/${status}`)]);

/** Keys that exist once per installation. */
const OF_ALL = {
  meta: 'meta',
  clock: 'clock',
  '{keys}:records': 'apiKeys',
  '{keys}:index': 'apiKeyIndex',
  '{keys}:children': 'apiKeyChildren',
  '{keys}:revoking': 'revoking',
  '{keys}:used': 'keyUses',
} as const;
const KIND_OF_ALL: ReadonlyMap<string, (typeof OF_ALL)[keyof typeof OF_ALL]> = new Map(Object.entries(OF_ALL));

/**
 * Determine the kind of a key.
 *
 * @param name key without the prefix and its `:`
 */
export function keyKindOf(name: string): KeyKind {
  const kind = KIND_OF_ALL.get(name);
  if (kind !== undefined) return { kind };
  if (name.startsWith('{bull}:')) return { kind: 'bull' };
  if (name.startsWith('{audit}:')) return auditKey(name.slice('{audit}:'.length));
  const [, partition = '', rest = ''] = /^\{(..)\}:(.+)$/s.exec(name) ?? [];
  if (!PARTITION_TAGS.includes(partition)) return UNKNOWN;
  return partitionKey(partition, rest);
}

function auditKey(rest: string): KeyKind {
  const [, name, part, owner] = /^(\w+)(?:\/(owners$|of\/)(.*))?$/s.exec(rest) ?? [];
  const stream = AUDIT_STREAMS.find((each) => each === name);
  if (stream === undefined) return UNKNOWN;
  if (part === undefined) return { kind: 'acts', stream };
  return part === 'owners' ? { kind: 'actOwners', stream } : { kind: 'actsOf', stream, owner: owner as string };
}

function partitionKey(partition: string, rest: string): KeyKind {
  if (rest === 'spaces' || rest === 'settings') return { kind: rest, partition };
  if (rest === 'schedules') return { kind: rest, partition, spaceId: null };
  if (rest === 'pauses' || rest === 'recounts' || rest === 'operations') return { kind: rest };
  if (rest === 'stepped' || rest === 'barrier') return { kind: rest };
  if (PARTITION_INDEXES.has(rest)) return { kind: 'index', partition, spaceId: null, ...ANY };
  if (/^counted:[a-z2-7]{16}$/.test(rest)) return { kind: 'counted' };
  if (rest.startsWith('job:')) return jobKey(partition, rest.slice('job:'.length));
  if (rest.startsWith('operation:')) return operationKey(partition, rest.slice('operation:'.length));
  if (rest.startsWith('schedule:')) return scheduleKey(partition, rest.slice('schedule:'.length));
  return rest.startsWith('space:') ? spaceKey(partition, rest.slice('space:'.length)) : UNKNOWN;
}

function jobKey(partition: string, rest: string): KeyKind {
  const [jobId = '', part] = rest.split(':', 2);
  if (!isJobId(jobId) || !jobId.startsWith(partition)) return UNKNOWN;
  if (part === undefined) return { kind: 'job', jobId };
  return rest === `${jobId}:events` || rest === `${jobId}:logs` ? { kind: 'list', jobId } : UNKNOWN;
}

const operationKey = (partition: string, operationId: string): KeyKind =>
  isJobId(operationId) && operationId.startsWith(partition) ? { kind: 'operation', operationId } : UNKNOWN;

function scheduleKey(partition: string, schedule: string): KeyKind {
  const [, spaceId = ''] = /^([\w.:-]{1,128})\/[\w.:-]{1,128}$/.exec(schedule) ?? [];
  return spaceId !== '' && partitionOf(spaceId) === partition ? { kind: 'schedule', partition, schedule } : UNKNOWN;
}

function spaceKey(partition: string, rest: string): KeyKind {
  const end = rest.indexOf('/');
  const [spaceId, index] = [rest.slice(0, end), rest.slice(end + 1)];
  // A key in the wrong partition is unknown, because no code reads it. Each of its jobs is reported.
  if (end < 1 || partitionOf(spaceId) !== partition) return UNKNOWN;
  if (index === 'operations') return { kind: 'operations' };
  if (index === 'schedules') return { kind: index, partition, spaceId };
  if (SPACE_INDEXES.has(index)) return { kind: 'index', partition, spaceId, ...ANY };
  if (index === 'names' || index === 'unique' || index === 'paused' || index === 'bytes')
    return { kind: index, spaceId };
  if (/^history\/((60|3600)\/\d+|points)$/.test(index)) return { kind: 'history' };
  if (index === 'history/names') return { kind: 'historyNames' };
  const [, family, value = ''] = /^(queue|tag)\/(.+)$/s.exec(index) ?? [];
  if (family === undefined) return UNKNOWN;
  return { kind: 'index', partition, spaceId, ...ANY, [family === 'tag' ? 'tag' : 'name']: value };
}
