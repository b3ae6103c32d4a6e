import { JOB_NAME, type Job, type Step } from './steps.js';

/**
 * How progress-scope streams show an event; they withhold all others. It is written again on purpose, because the product's
 * own table cannot show its own faults.
 */
const IN_PROGRESS_SCOPE: Record<string, 'with data' | 'without data'> = {
  progress: 'with data',
  completed: 'without data',
};

/** Whether an event is on a stream. Outcomes of callbacks are in the history only; space streams also show `created`. */
const isOnAStream = (type: string) => !['created', 'callback_sent', 'callback_failed'].includes(type);

/** The kinds of streams by what they show. tokens.test.ts tests which token has which scope. */
export const KINDS = ['full', 'progress', 'anonymous', 'space'] as const;
export type Kind = (typeof KINDS)[number];

export const isProgressScope = (kind: Kind) => kind === 'progress' || kind === 'anonymous';

/** What happened to a job while a client of each kind watched. */
export interface Course {
  job: Job;
  /** Status with which the job was created. */
  first: string;
  /** Steps before the clients connected, and while they watched. */
  before: Step[];
  watched: Step[];
  /** Time of each step, ISO 8601. */
  timestamps: string[];
}

/**
 * Return all messages that a stream of a kind must send: its init, and a message for each step that it may show.
 *
 * @param initAt timestamp of the init
 */
export function expectedMessages(
  kind: Kind,
  { job, first, before, watched, timestamps }: Course,
  initAt: string,
): object[] {
  // A client that may see only the completion, and connects after it, would otherwise wait forever.
  const isLate = isProgressScope(kind) && before.at(-1)?.type === 'completed';
  const from = isLate ? before.length - 1 : before.length;
  const shown = [...before, ...watched].slice(from);
  return [
    initOf(kind, { ...job, first }, before, initAt),
    ...shown.flatMap((step, i) => messagesOf(kind, job, step, timestamps[from + i] as string)),
  ];
}

/** Return what a stream of a kind does with an event, as the beginning of a test title. */
export function outcomeFor(kind: Kind, type: string): string {
  if (!isOnAStream(type)) return 'withholds';
  const inProgressScope = IN_PROGRESS_SCOPE[type];
  if (!isProgressScope(kind) || inProgressScope === 'with data') return 'shows';
  return inProgressScope === undefined ? 'withholds' : 'shows without data';
}

/** Return the init for a job after the steps in `before`. */
function initOf(
  kind: Kind,
  { id, spaceId, first }: Job & { first: string },
  before: Step[],
  timestamp: string,
): object {
  if (kind === 'space') return { spaceId, type: 'init', timestamp };
  if (kind === 'full') return { jobId: id, type: 'init', status: before.at(-1)?.status ?? first, timestamp };
  const report = before.findLast(({ type }) => type === 'progress');
  return { jobId: id, type: 'init', timestamp, ...(report ? { progress: report.data } : {}) };
}

/** Return the message of a step, or nothing when it is withheld. */
function messagesOf(kind: Kind, { id, spaceId }: Job, step: Step, timestamp: string): object[] {
  const { type, status } = step;
  const data = dataOf(step, timestamp);
  const full = { jobId: id, jobName: JOB_NAME, type, status, data, timestamp };
  if (kind === 'space') return isOnAStream(type) ? [{ ...full, spaceId }] : [];
  if (kind === 'full') return isOnAStream(type) ? [full] : [];
  if (IN_PROGRESS_SCOPE[type] === 'with data') return [{ jobId: id, type, data, timestamp }];
  if (IN_PROGRESS_SCOPE[type] === 'without data') return [{ jobId: id, type, timestamp }];
  return [];
}

/** Return the data of a step, with the time for which the job is scheduled after it. */
function dataOf({ data, delaySeconds }: Step, timestamp: string): unknown {
  if (delaySeconds === undefined) return data;
  const scheduledFor = new Date(Date.parse(timestamp) + delaySeconds * 1000).toISOString();
  return { ...(data as object | null), scheduledFor };
}
