import {
  isJobId,
  LIMITS,
  type Operation,
  type OperationRequest,
  STATUSES,
  YardmasterError,
} from '@yardmaster/protocol';
import { digestOf, idempotencySecretOf } from '../jobs/create/idempotency.js';
import { keyedJobId, newJobId } from '../keys.js';
import { runScript } from '../script/run-script.js';
import { cancel_operation, read_operations, start_operation } from '../script/scripts.generated.js';
import type { Caller, Store } from '../store.js';
import { operationOf, type ReadOperation, readOperationOf, shownRequestOf } from './record.js';

/** Maximum number of operations kept per space, and how long each is kept. */
const KEPT = 100;
const KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Start an operation on jobs of a space, unless an earlier call with this idempotency key did. The schedulers run it, see
 * stepOperation. Jobs created after its start are not included. A delete or a kill can start on a full Redis, because it
 * frees memory.
 *
 * @param idempotencyKey null for none
 * @throws TOO_MANY_OPERATIONS, IDEMPOTENCY_MISMATCH, STORAGE_FULL, UNAVAILABLE
 * @see docs/api/manage.md#operations
 */
export async function startOperation(
  store: Store,
  spaceId: string,
  request: OperationRequest,
  idempotencyKey: string | null,
): Promise<{ operation: Operation; isReplay: boolean }> {
  const isIdempotent = idempotencyKey !== null;
  const id = isIdempotent
    ? keyedJobId(await idempotencySecretOf(store), spaceId, idempotencyKey, 'operation')
    : newJobId(spaceId);
  const shown = shownRequestOf(request);
  const { action } = request;
  const { createdAfter, createdBefore, ids } = request.filter;
  const statuses = orderOf(request);
  const { outcome } = await runScript(store, start_operation, {
    keys: { record: store.keys.operation(id) },
    args: {
      base: store.keys.baseOfSpace(spaceId),
      id,
      space: spaceId,
      fingerprint: isIdempotent ? digestOf([spaceId, shown]) : '',
      running: LIMITS.operationsRunning,
      kept: KEPT,
      keptMs: KEPT_MS,
      lowest: createdAfter === undefined ? '' : createdAfter * 1024,
      highest: createdBefore === undefined ? '' : createdBefore * 1024 - 1,
      statuses: statuses.join(' '),
      freesMemory: action === 'delete' || action === 'kill' ? '1' : '',
      cursor: ids ? `ids ${ids.length}` : `${statuses[0]} -inf`,
    },
    rest: ['request', JSON.stringify(shown), ...(shown.limit === undefined ? [] : ['limit', shown.limit])],
  });
  return { operation: await getOperation(store, { spaceId }, id), isReplay: outcome === 'REPLAYED' };
}

/**
 * Return the statuses of an operation in the order in which it visits them: that of a job's life, so that a job whose
 * status changes in the meantime is still found. A job rescheduled to `pending` must not be found again, so `pending` then
 * comes first.
 */
function orderOf({ action, filter, delaySeconds }: OperationRequest) {
  const statuses = STATUSES.filter((status) => filter.status.includes(status));
  return action === 'reschedule' && delaySeconds === 0 ? statuses.reverse() : statuses;
}

/**
 * Read an operation.
 *
 * @throws OPERATION_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function getOperation(store: Store, caller: Caller, id: string): Promise<Operation> {
  if (!isJobId(id)) throw new YardmasterError('OPERATION_NOT_FOUND');
  const [read] = await readOperations(store, { id });
  if (!read?.record) throw new YardmasterError('OPERATION_NOT_FOUND');
  if (caller.spaceId !== null && caller.spaceId !== read.record.space) throw new YardmasterError('FORBIDDEN');
  return operationOf(id, read.record, read.left);
}

/**
 * List the operations of a space, newest first.
 *
 * @throws UNAVAILABLE
 */
export async function listOperations(store: Store, spaceId: string): Promise<Operation[]> {
  const most = KEPT + LIMITS.operationsRunning;
  const all = await readOperations(store, { list: store.keys.operationsOf(spaceId), most });
  return all.flatMap(({ id, left, record }) => (record === null ? [] : operationOf(id, record, left))).reverse();
}

/** Read one operation, or the first ones of a list. */
export async function readOperations(
  store: Store,
  which: { id: string } | { list: string; most: number },
): Promise<ReadOperation[]> {
  const { records } = await runScript(store, read_operations, {
    keys: { list: 'id' in which ? store.keys.operation(which.id) : which.list },
    args: { base: baseOf(store, which), most: 'id' in which ? 0 : which.most },
    rest: 'id' in which ? [which.id] : [],
  });
  return (records as unknown as string[][]).map(readOperationOf);
}

/** Return the prefix of a partition's keys, given one of its keys. */
const baseOf = ({ keys }: Store, which: { id: string } | { list: string }) =>
  'id' in which ? keys.baseOfJob(which.id) : which.list.slice(0, which.list.indexOf('}') + 2);

/**
 * Cancel an operation. Jobs that it has already changed stay changed. An operation that has ended is left unchanged.
 *
 * @returns the space of the operation, and whether it was running
 * @throws OPERATION_NOT_FOUND, FORBIDDEN, UNAVAILABLE
 */
export async function cancelOperation(
  store: Store,
  caller: Caller,
  id: string,
): Promise<{ spaceId: string; wasRunning: boolean }> {
  if (!isJobId(id)) throw new YardmasterError('OPERATION_NOT_FOUND');
  const { space, wasRunning } = await runScript(store, cancel_operation, {
    keys: { record: store.keys.operation(id) },
    args: { base: store.keys.baseOfJob(id), id, keySpaceId: caller.spaceId ?? '' },
  });
  return { spaceId: space, wasRunning: wasRunning === 1 };
}
