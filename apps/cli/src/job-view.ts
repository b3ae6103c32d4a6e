import type { Progress, Status } from '@yardmaster/protocol';
import type { StreamMessage } from './message.js';

/** What is known of a job that is watched. */
export interface JobView {
  jobId: string;
  /** Null until a message contains it. */
  jobName: string | null;
  /** Null while unknown, and always for a progress-scope client of a job that has not completed. */
  status: Status | null;
  /** Latest report of this attempt; null before the first. */
  progress: Progress | null;
}

/** Return what is known of a job before the first message. */
export const unseen = (jobId: string): JobView => ({ jobId, jobName: null, status: null, progress: null });

/** Return what is known of a job after a message. */
export function viewAfter(view: JobView, message: StreamMessage): JobView {
  return {
    jobId: view.jobId,
    jobName: message.jobName ?? view.jobName,
    // Messages of progress scope have no status, but the type `completed` shows it.
    status: message.type === 'completed' ? 'completed' : (message.status ?? view.status),
    // The next attempt begins without progress.
    progress: message.type === 'retried' ? null : (message.progress ?? view.progress),
  };
}
