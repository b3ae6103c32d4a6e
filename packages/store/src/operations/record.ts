import type { Operation, OperationRequest, Status } from '@yardmaster/protocol';
import { isoOf, isoOrNull } from '../time.js';

/** The request of an operation as responses show it, without fields at their defaults. */
export type ShownRequest = Pick<Operation, 'action' | 'filter' | 'limit' | 'dryRun' | 'reason' | 'delaySeconds'>;

/**
 * Fields of the hash `operation:<id>`. lua/operation/operation.lua explains those that scripts read. `request` is a
 * ShownRequest as JSON. With an idempotency key, the hash also has the `fingerprint` of the request.
 */
export interface OperationRecord {
  space: string;
  request: string;
  status: Operation['status'];
  statuses: string;
  lowest: string;
  highest: string;
  cursor: string;
  startedAt: string;
  finishedAt?: string;
  looked?: string;
  changed?: string;
  skipped?: string;
  limit?: string;
}

/** An operation as read_operations.lua returns it. */
export interface ReadOperation {
  id: string;
  left: number;
  /** The record; null if the operation is gone. */
  record: OperationRecord | null;
}

/** Decode a record from read_operations.lua. */
export function readOperationOf([id = '', left, ...values]: string[]): ReadOperation {
  const fields: Record<string, string> = {};
  for (let i = 0; i < values.length; i += 2) fields[values[i] as string] = values[i + 1] as string;
  return { id, left: Number(left), record: values.length === 0 ? null : (fields as unknown as OperationRecord) };
}

/** Return the request of an operation as responses show it. */
export function shownRequestOf({ action, filter, ...options }: OperationRequest): ShownRequest {
  const { status, names, tags, schedule, createdAfter, createdBefore, q, ids } = filter;
  const { limit, dryRun, reason, delaySeconds } = options;
  return {
    action,
    filter: {
      status: status as Status[],
      ...(names && { names }),
      ...(tags && { tags }),
      ...(schedule !== undefined && { schedule }),
      ...(createdAfter !== undefined && { createdAfter: isoOf(createdAfter) }),
      ...(createdBefore !== undefined && { createdBefore: isoOf(createdBefore) }),
      ...(q !== undefined && { q }),
      ...(ids && { ids }),
    },
    ...(limit !== null && { limit }),
    ...(dryRun && { dryRun }),
    ...(reason !== null && { reason }),
    ...(delaySeconds !== null && { delaySeconds }),
  };
}

/** Return an operation as responses show it. */
export function operationOf(id: string, record: OperationRecord, left: number): Operation {
  const { space, request, status, looked = 0, changed = 0, skipped = 0, startedAt, finishedAt } = record;
  return {
    id,
    spaceId: space,
    ...(JSON.parse(request) as ShownRequest),
    status,
    looked: Number(looked),
    changed: Number(changed),
    skipped: Number(skipped),
    left,
    startedAt: isoOf(startedAt),
    finishedAt: isoOrNull(finishedAt),
  };
}
