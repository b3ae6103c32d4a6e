import { fsck } from '@yardmaster/fsck';
import { isTerminal, listJobsQuery, STATUSES } from '@yardmaster/protocol';
import { partitionOf, type Store } from '@yardmaster/store';
import type { World } from '../world.js';
import type { Call } from './calls.js';
import type { IssuedIds, Step } from './step.js';
import { SPACES, TAGS } from './values.js';

const pageOf = (query: object) => listJobsQuery.parse({ limit: '100', ...query });

/** List calls that read everything and change nothing. */
export function everyRead({ jobs }: World): Call[] {
  const caller = null;
  const query = { mode: 'latest' as const, bound: null, limit: 200, levels: null, terms: [] };
  const ofJobs = [...jobs.keys()].flatMap((job): Call[] => [
    { verb: 'get', job, caller },
    { verb: 'progress', job, caller },
    { verb: 'snapshot', job, caller },
    { verb: 'since', job, fromSeq: 1 },
    { verb: 'readLogs', job, caller, query },
  ]);
  const ofSpaces = SPACES.flatMap((space): Call[] => [
    ...[undefined, ...STATUSES].map((status): Call => ({ verb: 'list', space, ...pageOf({ status }) })),
    ...TAGS.map((tag): Call => ({ verb: 'list', space, ...pageOf({ tag, order: 'asc' }) })),
    { verb: 'stats', space, limit: 100, names: [] },
  ]);
  return [...ofJobs, ...ofSpaces, { verb: 'spaces', cursor: null, limit: 100 }, { verb: 'due' }];
}

/** The end of each sequence: all pauses end, the queues are emptied, every window closes, and some jobs are purged. */
export const EPILOGUE: readonly Step[] = [
  ...SPACES.map((space): Step => ({ calls: [{ verb: 'resume', space, names: null }] })),
  ...SPACES.map((space): Step => ({ calls: [{ verb: 'poll', space, count: 50, names: [] }] })),
  ...[300_001, 3_600_001].flatMap((passMs): Step[] => [
    { passMs },
    ...(['promote', 'expire'] as const).flatMap((verb) =>
      SPACES.map((space): Step => ({ calls: [{ verb, partition: partitionOf(space) }] })),
    ),
  ]),
];

/** Return the next step that brings a job to its end, after that; null when none is open. */
export function drainingStep({ jobs }: World, issued: IssuedIds): Step | null {
  const job = [...jobs.values()].find(({ status }) => !isTerminal(status));
  if (!job) return null;
  const of = { job: issued.labelOf(job.id), caller: null };
  const ofWorker = { ...of, token: job.deliveries.at(-1)?.token ?? null };
  if (job.status === 'running') return { calls: [{ verb: 'complete', ...ofWorker, result: null }] };
  if (job.status === 'delivered') return { calls: [{ verb: 'ack', ...ofWorker }] };
  if (job.status === 'pending') return { calls: [{ verb: 'claim', ...of }] };
  return { calls: [{ verb: 'reschedule', ...of, scheduledFor: null, delaySeconds: 0, priority: null }] };
}

/** Return the faults that fsck finds in a store. */
export async function faultsOf(store: Store): Promise<string[]> {
  const faults: string[] = [];
  await fsck(store, { onFault: ({ kind, key, detail }) => faults.push(`${kind} ${key}: ${detail}`) });
  return faults;
}
