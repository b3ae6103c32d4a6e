import { isJobId, type Status } from '@yardmaster/protocol';
import { call } from '../call.js';
import { matchesText, tagsToMatch } from '../jobs/find/filter.js';
import { delayOf } from '../jobs/options.js';
import type { StatusOrNone } from '../observer.js';
import { onBulk, runScript } from '../script/run-script.js';
import { read_texts, step_operation } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { readOperations } from './operations.js';
import type { OperationRecord, ShownRequest } from './record.js';

/** Maximum number of jobs that a step examines, and that it changes. The script takes Redis about 2 ms. */
const EXAMINED = 100;
const CHANGED = 25;

/** Bytes of payloads, results and errors that a step searches, exceeded by at most one job. */
const SEARCHED_BYTES = 256 * 1024;

/** The jobs of the next step. */
interface Portion {
  /** Maximum number of jobs to examine in the index of the cursor's status; 0 to use `ids`. */
  most: number;
  /** Jobs found by a text search, or listed in the request. */
  ids: string[];
  /** Number of jobs examined to find these. */
  listed: number;
  /** The next cursor; with `most`, only if the index has no more jobs. */
  next: string;
}

/** Result of one step of an operation. */
export interface Step {
  operationId: string;
  isDone: boolean;
  /** Number of changed jobs. */
  changed: number;
}

/**
 * Find the partition with the next operation to step: the one whose space has waited longest.
 *
 * @param partitions tags of the partitions; see PARTITION_TAGS
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
 * Step one running operation of a partition: the one whose space has waited longest. Any number of processes can call this
 * at once; a step that another process has already done does nothing.
 *
 * @param partition tag of the partition; see PARTITION_TAGS
 * @returns null when no operation is running
 * @throws UNAVAILABLE
 */
export async function stepOperation(store: Store, partition: string): Promise<Step | null> {
  const list = store.keys.operations(partition);
  const [head] = await readOperations(store, { list, most: 1 });
  if (head === undefined) return null;
  const { id, record } = head;
  if (record?.status !== 'running') {
    await call(store, 'zrem', store.redis.zrem(list, id)); // It was canceled in the meantime, or has expired.
    return { operationId: id, isDone: true, changed: 0 };
  }

  const request = JSON.parse(record.request) as ShownRequest;
  const mayChange = Math.min(
    request.dryRun ? EXAMINED : CHANGED,
    (request.limit ?? Number.POSITIVE_INFINITY) - Number(record.changed ?? 0),
  );
  const base = store.keys.baseOf(partition);
  const { most, ids, listed, next } = await portionOf(store, { base, record, request, mayChange });
  const { names = [], tags = [], schedule = null } = request.filter;
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
      tags: tagsToMatch({ tags, schedule }).join('\n'),
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
  // A portion may be short because of its size, so only an empty one is the last.
  const next = last === undefined ? afterStatus : `${at} ${last[1]}`;
  return { most: 0, ids: matching.map(([jobId]) => jobId), listed, next };
}

/** A job: ID, creation order, payload, result and error. */
type Row = [jobId: string, order: string, payload: string | null, result: string | null, error: string | null];

/** Create a function that checks whether the payload, result or error of a job contains a text. */
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

/** Report the changes of a step to the observer. */
function reportMoves(store: Store, spaceId: string, moves: string[]): void {
  for (let i = 0; i < moves.length; i += 4) {
    const [from, to, name, jobs] = moves.slice(i, i + 4) as [Status, StatusOrNone, string, string];
    store.observer.changed({ from, to, jobs: Number(jobs), spaceId, name });
  }
}
