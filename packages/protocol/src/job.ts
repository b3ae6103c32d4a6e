import type { JobEvent } from './events.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Progress } from './progress.js';
import type { Status } from './status.js';

/** A job as the list shows it: everything but its callback and its history (spec §2.1). */
export interface ListedJob {
  /** Two characters that name the partition, then 26 random base-32 characters. */
  id: string;
  spaceId: string;
  name: string;
  payload: JsonObject | null;
  status: Status;
  maxRetries: number;
  /** Attempts that have started: 0 at creation, +1 at each ack. */
  attemptNumber: number;
  /** How long an attempt may be silent, in seconds. */
  timeoutSeconds: number;
  /** ISO 8601; null while pending, also between two attempts. */
  deliveredAt: string | null;
  /** ISO 8601; null until the attempt is acked. */
  startedAt: string | null;
  /** ISO 8601; null unless the status is completed. */
  completedAt: string | null;
  /** What the worker gave at completion; null until then. */
  result: JsonValue;
  createdAt: string;
  updatedAt: string;
}

/** A job as create answers it. */
export interface Job extends ListedJob {
  callbackUrl: string | null;
  callbackHeaders: Record<string, string> | null;
}

/** A job as Get Job answers it: with its history, oldest first. */
export interface JobWithEvents extends Job {
  events: JobEvent[];
}

/** What a worker gets from poll and claim (spec §2.4). */
export interface ClaimedJob {
  id: string;
  name: string;
  payload: JsonObject | null;
  timeoutSeconds: number;
  maxRetries: number;
  attemptNumber: number;
  createdAt: string;
  /** Data of the latest checkpoint of any earlier attempt, or null (our addition, so that a retry can resume). */
  checkpoint: JsonValue;
}

/** Answer of Claim Specific Job (spec §4.4). */
export type ClaimOutcome =
  | { claimed: true; job: ClaimedJob }
  | { claimed: false; reason: 'not_pending'; status: Status };

/** Answer of Get Job Progress (spec §4.6); both null before the first report. */
export interface LatestProgress {
  jobId: string;
  progress: Progress | null;
  /** ISO 8601 time of the report. */
  timestamp: string | null;
}
