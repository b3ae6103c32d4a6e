import type { JobEvent } from '@yardmaster/protocol';
import { type Call, type DumpedJob, type Evidence, type Finding, groupsOf, linesOf, type Rule } from './rule.js';

/** Events that free the unique key of a job, by the field `until` of its `unique`. */
const FREEING = {
  ended: ['completed', 'dead', 'killed'],
  started: ['acked', 'completed', 'dead', 'killed'],
  expired: [],
};

/**
 * Two jobs never occupy the same unique key at once, and each create that replaced the request of a job left one event
 * `replaced` (P18).
 */
export const uniques: Rule = {
  name: 'uniques',
  promise: 'P18',
  check: (evidence) => [...overlaps(evidence), ...replacements(evidence)],
};

function overlaps({ dump }: Evidence): Finding[] {
  const withKey = dump.jobs.filter(({ unique }) => unique !== undefined);
  const groups = groupsOf(withKey, ({ spaceId, name, unique }) => JSON.stringify([spaceId, name, unique?.key]));
  return groups.flatMap((jobs) => {
    const inOrder = jobs.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
    return inOrder.slice(1).flatMap((job, i): Finding[] => {
      const before = inOrder[i] as DumpedJob;
      if (freedAt(before) <= Date.parse(job.createdAt)) return [];
      return [{ jobId: job.id, damage: 'duplicated', says: `it was created while ${before.id} had its unique key` }];
    });
  });
}

/** Return when a job freed its unique key, epoch milliseconds; infinite if it still occupies the key. */
function freedAt({ events, unique }: DumpedJob): number {
  const freeing: readonly string[] = FREEING[unique?.until ?? 'ended'];
  const freed = events.find(({ type }: JobEvent) => freeing.includes(type));
  return freed === undefined ? Number.POSITIVE_INFINITY : Date.parse(freed.createdAt);
}

/**
 * Report lost replacements. A create with status 200 replaced a request if the response has its payload. When it is retried,
 * the replaced request may be its own.
 */
function replacements({ cases }: Evidence): Finding[] {
  return cases.flatMap(({ jobId, job, calls }): Finding[] => {
    if (job === null) return [];
    const replacing = calls.filter(isReplacing);
    const requests = new Set(replacing.map(({ sent }) => sent.payload.n)).size;
    const happened = job.events.filter(({ type }) => type === 'replaced').length;
    if (requests <= happened) return [];
    const says = `${requests} requests replaced its own, but ${happened} are in its history`;
    return [{ jobId, damage: 'lost', says, lines: linesOf(replacing) }];
  });
}

const isReplacing = ({ op, outcome, status, sent, body }: Call) =>
  op === 'create' &&
  outcome === 'ok' &&
  status === 200 &&
  sent.unique?.onConflict === 'replace' &&
  sent.payload.n === body.payload.n;
