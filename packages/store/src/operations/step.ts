import { isJobId, type Status } from '@yardmaster/protocol';
import { call } from '../call.js';
import { matchesText } from '../jobs/find/filter.js';
import { delayOf } from '../jobs/options.js';
import type { StatusOrNone } from '../observer.js';
import { onBulk, runScript } from '../script/run-script.js';
import { read_texts, step_operation } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { readOperations } from './operations.js';
import type { OperationRecord, ShownRequest } from './record.js';

/** Jobs that one step examines, and that it changes: the script takes Redis some 2 ms. */
const EXAMINED = 100;
const CHANGED = 25;

/** Bytes of payloads, results and errors that one step searches, exceeded by at most one job. */
const SEARCHED_BYTES = 256 * 1024;

/** Which jobs the next step is about. */
interface Portion {
  /** Jobs of the status of the cursor to examine; 0 for those of `ids`. */
  most: number;
  /** Jobs that were found by reading their texts, or that the request lists. */
  ids: string[];
  /** Jobs that were examined to find these. */
  listed: number;
  /** The cursor afterwards; for `most`, when the index has no more jobs. */
  next: string;
}

/** What a step has done. */
export interface Step {
  operationId: string;
  isDone: boolean;
  /** Jobs that it has changed. */
  changed: number;
}

/**
 * Find the partition of the operation that is next: the one whose space has waited longest for a step.
 *
 * @param partitions tags, see PARTITION_TAGS
 * @returns null when no operation is running
 * @throws UNAVAILABLE
 */
export async function nextPartition(store: Store, partitions: readonly string[]): Promise<string | null> {
  const heads = await Promise.all(
    partitions.map(async (partition) => {
      const list = store.keys.operations(partition);
      const [, at] = await call(store, 'zrange', store.redis.zrange(list, 0, 0, 'WITHSCORES'));
      return { partition, at: Number(at ?? Number.POSITIVE_INFINITY) };
    }),
  );
  const first = heads.reduce((one, other) => (other.at < one.at ? other : one));
  return Number.isFinite(first.at) ? first.partition : null;
}

/**
 * Do the next step of one running operation of a partition, the one whose space has waited longest for a step. Any number of
 * processes may do so at once: a step that another process was faster with does nothing.
 *
 * @param partition its tag, see PARTITION_TAGS
 * @returns null when no operation is running
 * @throws UNAVAILABLE
 */
export async function stepOperation(store: Store, partition: string): Promise<Step | null> {
  const list = store.keys.operations(partition);
  const [head] = await readOperations(store, { list, most: 1 });
  if (head === undefined) return null;
  const { id, record } = head;
  if (record?.status !== 'running') {
    await call(store, 'zrem', store.redis.zrem(list, id)); // It was canceled in between, or is kept no longer.
    return { operationId: id, isDone: true, changed: 0 };
  }

  const request = JSON.parse(record.request) as ShownRequest;
  const mayChange = Math.min(
    request.dryRun ? EXAMINED : CHANGED,
    (request.limit ?? Number.POSITIVE_INFINITY) - Number(record.changed ?? 0),
  );
  const base = store.keys.baseOf(partition);
  const { most, ids, listed, next } = await portionOf(store, { base, record, request, mayChange });
  const { names = [], tags = [] } = request.filter;
  const reply = await runScript(store, step_operation, {
    keys: { record: store.keys.operation(id) },
    args: {
      base,
      id,
      space: record.space,
      action: request.action,
      cursor: record.cursor,
      after: next,
      lowest: record.lowest,
      highest: record.highest,
      most,
      mayChange,
      isDryRun: request.dryRun ? '1' : '',
      reason: JSON.stringify(request.reason ?? null),
      delay: delayOf({ scheduledFor: null, delaySeconds: request.delaySeconds ?? null }),
      listed,
      tags: tags.join('\n'),
      nameCount: names.length,
    },
    rest: [...names, ...ids],
  });
  if (reply.outcome === 'OVERTAKEN') return { operationId: id, isDone: false, changed: 0 };
  reportMoves(store, record.space, reply.moves);
  return { operationId: id, isDone: reply.status === 'done', changed: reply.changed };
}

interface Before {
  base: string;
  record: OperationRecord;
  request: ShownRequest;
  mayChange: number;
}

async function portionOf(store: Store, { base, record, request, mayChange }: Before): Promise<Portion> {
  const { q, ids } = request.filter;
  const [at = '', order = ''] = record.cursor.split(' ');
  if (at === 'ids') {
    const left = Number(order);
    const all = (ids as string[]).slice(-left).slice(0, mayChange);
    const next = all.length < left ? `ids ${left - all.length}` : 'end';
    const own = all.filter((jobId) => isJobId(jobId) && store.keys.job(jobId) === `${base}job:${jobId}`);
    const found = q === undefined ? own : await searched(store, base, { q, ids: own });
    return { most: 0, ids: found, listed: all.length, next };
  }
  const statuses = record.statuses.split(' ');
  const following = statuses[statuses.indexOf(at) + 1];
  const afterStatus = following === undefined ? 'end' : `${following} -inf`;
  if (q === undefined) return { most: EXAMINED, ids: [], listed: 0, next: afterStatus };

  const index = `${base}space:${record.space}/status/${at}`;
  const low = order === '-inf' ? record.lowest : `(${order}`;
  const rows = await readTexts(store, base, { index, low, highest: record.highest, most: EXAMINED, ids: [] });
  const matching = rows.filter(matcherOf(q)).slice(0, mayChange);
  const last = matching.length === mayChange ? matching.at(-1) : rows.at(-1);
  const listed = last === undefined ? 0 : rows.indexOf(last) + 1;
  // A full portion may have ended because of its size, so only an empty one is the last.
  const next = last === undefined ? afterStatus : `${at} ${last[1]}`;
  return { most: 0, ids: matching.map(([jobId]) => jobId), listed, next };
}

/** A job: id, creation order, payload, result and error. */
type Row = [jobId: string, order: string, payload: string | null, result: string | null, error: string | null];

/** Create a function that returns whether a job has a text in its payload, result or error. */
function matcherOf(q: string): (row: Row) => boolean {
  const matches = matchesText(q);
  return ([, , payload, result, error]) => matches({ payload, result, error });
}

async function searched(store: Store, base: string, { q, ids }: { q: string; ids: string[] }): Promise<string[]> {
  const found: string[] = [];
  const matches = matcherOf(q);
  for (let rest = ids; rest.length > 0; ) {
    const rows = await readTexts(store, base, {
      index: `${base}none`,
      low: '-inf',
      highest: '+inf',
      most: 0,
      ids: rest,
    });
    found.push(...rows.filter(matches).map(([jobId]) => jobId));
    rest = rest.slice(rows.length);
  }
  return found;
}

async function readTexts(
  store: Store,
  base: string,
  { index, low, highest, most, ids }: { index: string; low: string; highest: string; most: number; ids: string[] },
): Promise<Row[]> {
  const args = { base, low, highest, most, budget: SEARCHED_BYTES };
  const { rows } = await runScript(onBulk(store), read_texts, { keys: { index }, args, rest: ids });
  return rows as unknown as Row[];
}

/** Report what a step has changed. */
function reportMoves(store: Store, spaceId: string, moves: string[]): void {
  for (let i = 0; i < moves.length; i += 4) {
    const [from, to, name, jobs] = moves.slice(i, i + 4) as [Status, StatusOrNone, string, string];
    store.observer.changed({ from, to, jobs: Number(jobs), spaceId, name });
  }
}
