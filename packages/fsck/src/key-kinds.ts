import { STATUSES } from '@yardmaster/protocol';
import { isJobId, PARTITION_TAGS, partitionOf } from '@yardmaster/store';

/** Kind of a key under our prefix, by its name. */
export type KeyKind =
  | { kind: 'job'; jobId: string }
  | { kind: 'list'; jobId: string }
  /** An index of jobs. `spaceId` null: of the whole partition; `name` null: of jobs of any name. */
  | { kind: 'index'; partition: string; spaceId: string | null; name: string | null }
  | { kind: 'names'; spaceId: string }
  /** The unique keys of a space. */
  | { kind: 'unique'; spaceId: string }
  | { kind: 'spaces'; partition: string }
  /** A point of the history of a space. It goes by itself, and nothing else says what it must contain. */
  | { kind: 'history' }
  /** Number of the last step of counts that was added of a process. It goes by itself. */
  | { kind: 'counted' }
  | { kind: 'stepped' }
  | { kind: 'meta' }
  | { kind: 'apiKeys' }
  /** A key of BullMQ. All of these may be lost, so they are not checked. */
  | { kind: 'bull' }
  | { kind: 'unknown' };

/** The type that a key must have in Redis; null where the type is not ours to decide. */
export const TYPE_OF: Record<KeyKind['kind'], string | null> = {
  job: 'hash',
  list: 'list',
  index: 'zset',
  names: 'zset',
  unique: 'hash',
  spaces: 'zset',
  history: 'hash',
  counted: 'string',
  stepped: 'string',
  meta: 'hash',
  apiKeys: 'hash',
  bull: null,
  unknown: null,
};

const UNKNOWN: KeyKind = { kind: 'unknown' };

/** Indexes of the jobs of all spaces of a partition. */
const PARTITION_INDEXES = new Set(['deadlines', 'due', 'callbacks']);

/** Indexes of a space, behind its `/`. The queue of a name is `queue/<name>`, and a name may contain anything. */
const SPACE_INDEXES = new Set(['jobs', 'queue', ...STATUSES.map((status) => `status/${status}`)]);

/**
 * Find out the kind of a key.
 *
 * @param name without the prefix and its `:`
 */
export function keyKindOf(name: string): KeyKind {
  if (name === 'meta') return { kind: 'meta' };
  if (name === '{keys}:records') return { kind: 'apiKeys' };
  if (name.startsWith('{bull}:')) return { kind: 'bull' };
  const [, partition = '', rest = ''] = /^\{(..)\}:(.+)$/s.exec(name) ?? [];
  if (!PARTITION_TAGS.includes(partition)) return UNKNOWN;
  if (rest === 'spaces') return { kind: 'spaces', partition };
  if (rest === 'stepped') return { kind: 'stepped' };
  if (/^counted:[a-z2-7]{16}$/.test(rest)) return { kind: 'counted' };
  if (PARTITION_INDEXES.has(rest)) return { kind: 'index', partition, spaceId: null, name: null };
  if (rest.startsWith('job:')) return jobKey(partition, rest.slice('job:'.length));
  return rest.startsWith('space:') ? spaceKey(partition, rest.slice('space:'.length)) : UNKNOWN;
}

function jobKey(partition: string, rest: string): KeyKind {
  const [jobId = '', part] = rest.split(':', 2);
  if (!isJobId(jobId) || !jobId.startsWith(partition)) return UNKNOWN;
  if (part === undefined) return { kind: 'job', jobId };
  return rest === `${jobId}:events` || rest === `${jobId}:logs` ? { kind: 'list', jobId } : UNKNOWN;
}

function spaceKey(partition: string, rest: string): KeyKind {
  const end = rest.indexOf('/');
  const [spaceId, index] = [rest.slice(0, end), rest.slice(end + 1)];
  // No code reads a key in the wrong partition, so it does not belong to Yardmaster. Its jobs are reported one by one.
  if (end < 1 || partitionOf(spaceId) !== partition) return UNKNOWN;
  if (SPACE_INDEXES.has(index)) return { kind: 'index', partition, spaceId, name: null };
  if (index === 'names' || index === 'unique') return { kind: index, spaceId };
  if (/^history\/(60|3600)\/\d+$/.test(index)) return { kind: 'history' };
  const name = index.startsWith('queue/') ? index.slice('queue/'.length) : '';
  return name === '' ? UNKNOWN : { kind: 'index', partition, spaceId, name };
}
