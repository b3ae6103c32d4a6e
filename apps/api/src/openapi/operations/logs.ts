import type { Operation } from '../operation.js';
import { LOG, REPORTED } from '../samples.js';

const ENTRIES = ['decoding', { level: 'warn', message: LOG.message, source: LOG.source, metadata: LOG.metadata }];

/** Operations on the log of a job. */
export const LOGS = {
  appendLogs: {
    tag: 'Logs',
    summary: 'Append a batch of log entries',
    description:
      'To a job of any status; it is no sign of life. JSON, or NDJSON with an entry on each line, where blank lines are skipped.',
    refusals: ['STORAGE_FULL'],
    request: {
      'A list': ENTRIES,
      'An object': { logs: [{ message: 'scaling', level: 'info', timestamp: REPORTED }] },
    },
    response: { 'Two entries': { success: true, inserted: 2, fromSeq: 1, toSeq: 2 } },
  },
  readLogs: {
    tag: 'Logs',
    summary: 'Read a page of log entries',
    description:
      'The newest entries, or those next to a seq, in the order of seq. Go on with `after=<newestSeq>` or `before=<oldestSeq>`. `after` together with `before` is 400.',
    response: {
      'The newest entry': { logs: [LOG], cursor: { mode: 'latest', oldestSeq: 2, newestSeq: 2, hasMore: true } },
      'Nothing new': { logs: [], cursor: { mode: 'after', oldestSeq: 2, newestSeq: 2, hasMore: false } },
    },
  },
} as const satisfies Record<string, Operation>;

/** A body of NDJSON, as the document shows it. */
export const LINES = ENTRIES.map((entry) => `${JSON.stringify(entry)}\n`).join('');
