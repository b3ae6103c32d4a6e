import { type Operation, operation, operationList, operationRequest } from '@yardmaster/protocol';
import { authorize } from '@yardmaster/server';
import { cancelOperation, getOperation, listOperations, startOperation } from '@yardmaster/store';
import { Reply } from '../call.js';
import { json } from '../input/input.js';
import { REPLAYED } from './create.js';
import { JOB_ID, OPERATIONS_SHOWN } from './examples.js';
import { DONE, type Route, route } from './route.js';

/** Return what the audit records of an operation. It omits the search text, which may be data of a job. */
const actOf = ({ id, action, filter: { status } }: Operation) => ({ operationId: id, action, status });

/** Endpoints for operations on many jobs of a space. */
export const OPERATIONS: readonly Route[] = [
  route({
    operation: 'startOperation',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/operations',
    scopes: ['jobs:manage'],
    audit: 'operation.start',
    tag: 'Operations',
    summary: 'Start an operation',
    description:
      'Requeues, kills, deletes or reschedules all jobs of a space that match a filter. Schedulers run the operation in the background, up to 100 jobs at a time. Jobs created after its start are not affected. The action `kill` also requires the scope `jobs:kill`. Unknown fields are refused.',
    input: json(operationRequest, {
      examples: {
        'Requeue all jobs that failed with the same error': {
          action: 'requeue',
          filter: { status: 'dead', names: ['resize'], q: 'out of memory' },
        },
        'Count jobs older than a month': {
          action: 'delete',
          filter: { status: ['completed', 'dead', 'killed'], createdBefore: '2026-10-24T00:00:00Z' },
          dryRun: true,
        },
        'Kill a job, unless it has ended': {
          action: 'kill',
          filter: { status: ['scheduled', 'pending', 'delivered', 'running'], ids: [JOB_ID] },
          reason: 'The customer canceled',
        },
      },
    }),
    header: 'idempotency-key',
    success: {
      status: 202,
      schema: operation,
      examples: { 'Just started': OPERATIONS_SHOWN.started },
      link: { parameter: 'operationId', from: '/id' },
    },
    refusals: ['TOO_MANY_OPERATIONS', 'STORAGE_FULL'],
    async handler({ store, caller, spaceId, input, header: idempotencyKey }) {
      if (input.action === 'kill') authorize(caller, ['jobs:kill']);
      const { operation, isReplay } = await startOperation(store, spaceId, input, idempotencyKey);
      const act = isReplay || operation.dryRun === true ? null : { details: actOf(operation) };
      return new Reply(operation, { ...(isReplay && { headers: REPLAYED }), act });
    },
  }),
  route({
    operation: 'listOperations',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/operations',
    scopes: ['jobs:manage', 'jobs:read'],
    tag: 'Operations',
    summary: 'List the operations of a space',
    description: 'Newest first: all that are running, and up to 100 that have ended. Operations are kept for 30 days.',
    success: { schema: operationList, examples: { 'One operation': { operations: [OPERATIONS_SHOWN.done] } } },
    async handler({ store, spaceId }) {
      return { operations: await listOperations(store, spaceId) };
    },
  }),
  route({
    operation: 'getOperation',
    method: 'GET',
    path: '/api/v1/operations/:operationId',
    scopes: ['jobs:manage', 'jobs:read'],
    tag: 'Operations',
    summary: 'Get an operation',
    success: { schema: operation, examples: { Running: OPERATIONS_SHOWN.running, Done: OPERATIONS_SHOWN.done } },
    handler: ({ store, caller, id: operationId }) => getOperation(store, caller, operationId),
  }),
  route({
    operation: 'cancelOperation',
    method: 'DELETE',
    path: '/api/v1/operations/:operationId',
    scopes: ['jobs:manage'],
    audit: 'operation.cancel',
    tag: 'Operations',
    summary: 'Cancel an operation',
    description: 'Jobs that were already changed stay changed. Canceling an operation that has ended has no effect.',
    success: DONE,
    async handler({ store, caller, id: operationId }) {
      const { spaceId, wasRunning } = await cancelOperation(store, caller, operationId);
      const act = wasRunning ? { spaceId, details: { operationId } } : null;
      return new Reply({ success: true as const }, { act });
    },
  }),
];
