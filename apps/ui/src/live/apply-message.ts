import type { ListedJob, StreamMessage } from '@yardmaster/protocol';
import { WAITS_AGAIN_EVENTS } from '@yardmaster/protocol/transitions';

/** A message that reports an event of a job. */
export type EventMessage = Extract<StreamMessage, { jobName: string }>;

export const isEvent = (message: StreamMessage): message is EventMessage => 'jobName' in message;

/**
 * Return a job after an event, so that a row changes without a request. A message older than the job has no effect,
 * because the list was read after it.
 */
export function applyMessage<T extends ListedJob>(job: T, message: EventMessage): T {
  if (message.timestamp < job.updatedAt || message.type === 'logs_appended') return job;
  return {
    ...job,
    status: message.status,
    updatedAt: message.timestamp,
    ...(WAITS_AGAIN_EVENTS.has(message.type) && UNCLAIMED),
    ...changesOf(job, message),
    ...scheduleOf(message),
  };
}

/** Fields of a job that no worker holds. */
const UNCLAIMED: Partial<ListedJob> = { deliveredAt: null, startedAt: null, workerId: undefined };

/** Return the due time that the event sets or clears. */
function scheduleOf({ data }: EventMessage): Partial<ListedJob> {
  const { scheduledFor } = (data ?? {}) as { scheduledFor?: unknown };
  if (scheduledFor === undefined) return {};
  return { scheduledFor: typeof scheduledFor === 'string' ? scheduledFor : undefined };
}

function changesOf(job: ListedJob, { type, data, timestamp }: EventMessage): Partial<ListedJob> {
  switch (type) {
    case 'progress':
      return { progress: data };
    case 'delivered':
      return { deliveredAt: timestamp, startedAt: null };
    case 'acked':
      return { startedAt: timestamp, attemptNumber: job.attemptNumber + (job.startedAt === timestamp ? 0 : 1) };
    case 'completed':
      return { completedAt: timestamp, result: data };
    case 'dead':
      return { error: data.error } as Partial<ListedJob>;
    case 'retried':
      return { error: data.error, attemptNumber: data.attemptNumber } as Partial<ListedJob>;
    case 'requeued':
      return { ...UNCLAIMED, error: undefined, attemptNumber: 0, result: null } as Partial<ListedJob>;
    case 'released': // Releasing a running job doesn't use up the attempt.
      return { attemptNumber: job.attemptNumber - (job.status === 'running' ? 1 : 0) };
    default:
      return {};
  }
}
