import { appendedLogs, logsPage, logsQuery } from '@yardmaster/protocol';
import { appendLogs, readLogs } from '@yardmaster/store';
import { query } from '../input/input.js';
import { logs } from '../input/logs/batch.js';
import { LOG, LOG_LINES, NEW_LOGS, REPORTED } from './examples.js';
import { type Route, route } from './route.js';

/** Endpoints for the log of a job. */
export const LOGS: readonly Route[] = [
  route({
    operation: 'appendLogs',
    method: 'POST',
    path: '/api/v1/jobs/:jobId/logs',
    scopes: ['jobs:event'],
    tag: 'Logs',
    summary: 'Append a batch of log entries',
    description:
      'The job can have any status. The body is JSON, or NDJSON with one entry per line; blank lines are skipped. Logs do not count as a heartbeat: the execution window keeps running.',
    input: logs(
      {
        'A list': NEW_LOGS,
        'An object': { logs: [{ message: 'scaling', level: 'info', timestamp: REPORTED }] },
      },
      { 'Two lines': LOG_LINES },
    ),
    success: {
      schema: appendedLogs,
      examples: { 'Two entries': { success: true, inserted: 2, fromSeq: 1, toSeq: 2 } },
    },
    refusals: ['SPACE_FULL', 'STORAGE_FULL'],
    handler: ({ store, caller, id: jobId, input }) => appendLogs(store, caller, jobId, input),
  }),
  route({
    operation: 'readLogs',
    method: 'GET',
    path: '/api/v1/jobs/:jobId/logs',
    scopes: ['jobs:read'],
    tag: 'Logs',
    summary: 'Read a page of log entries',
    description:
      'Returns the newest entries, or those after or before a `seq`, in ascending order. Continue with `after=<newestSeq>` or `before=<oldestSeq>`.',
    input: query(logsQuery),
    slot: 'long',
    success: {
      schema: logsPage,
      examples: {
        'The newest entry': { logs: [LOG], cursor: { mode: 'latest', oldestSeq: 2, newestSeq: 2, hasMore: true } },
        'No new entry': { logs: [], cursor: { mode: 'after', oldestSeq: 2, newestSeq: 2, hasMore: false } },
      },
    },
    handler: ({ store, caller, id: jobId, input }) => readLogs(store, caller, jobId, input),
  }),
];
