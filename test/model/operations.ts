import { filterOf, type OperationRequest, STATUSES } from '@yardmaster/protocol';
import { kill } from './attempts.js';
import { remove, requeue } from './manage.js';
import { passes } from './reading.js';
import { reschedule } from './waiting.js';
import { jobsOf, type ModelJob, Refusal, type World } from './world.js';

// One action on all jobs of a space that match a filter.

/** Counts of an operation that has ended. */
export interface OperationCounts {
  looked: number;
  changed: number;
  skipped: number;
  left: number;
}

/** Carry out an operation from its start to its end, while nothing else happens. */
export function operate(
  world: World,
  { space, request }: { space: string; request: OperationRequest },
): OperationCounts {
  const { action, filter, limit, dryRun } = request;
  const statuses = STATUSES.filter((status) => filter.status.includes(status));
  if (action === 'reschedule' && request.delaySeconds === 0) statuses.reverse();
  const examined = statuses.flatMap((status) =>
    jobsOf(world, space)
      .filter((job) => job.status === status)
      .sort((a, b) => a.createdOrder - b.createdOrder),
  );
  const counts = { looked: 0, changed: 0, skipped: 0, left: 0 };
  // Names, tags, times and text. A job whose status has changed is skipped.
  const parts = filterOf(undefined, filter);
  for (const job of examined) {
    if (counts.changed === limit) break;
    counts.looked += 1;
    if (!passes(job, parts)) continue;
    try {
      if (!dryRun) act(world, job, request);
      counts.changed += 1;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      counts.skipped += 1;
    }
  }
  return { ...counts, left: examined.length - counts.looked };
}

function act(world: World, { id }: ModelJob, { action, reason, delaySeconds }: OperationRequest): void {
  const of = { job: id, caller: null };
  if (action === 'requeue') requeue(world, { ...of, delaySeconds });
  else if (action === 'kill') kill(world, { ...of, reason });
  else if (action === 'delete') remove(world, of);
  else reschedule(world, { ...of, delaySeconds, scheduledFor: null, priority: null });
}
