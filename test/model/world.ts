import type {
  CreateJobRequest,
  ErrorCode,
  EventType,
  JsonValue,
  LogEntry,
  Progress,
  Status,
} from '@yardmaster/protocol';
import { partitionOf, type StoreSettings } from '@yardmaster/store';

// What the specification says there is, and nothing of how the store keeps it: each verb is a function that changes a
// world and returns what its caller is told. Times are epoch milliseconds.

export interface ModelEvent {
  seq: number;
  type: EventType;
  data: JsonValue;
  at: number;
  /** Of the job, once it has happened. */
  status: Status;
}

/** The callback of an ended job, from the end of the job on (docs of packages/store/src/callbacks/outbox.ts). */
export interface ModelCallback {
  isOwed: boolean;
  /** POSTs whose outcome is recorded. */
  attempts: number;
  series: number;
  /** When the next attempt may begin; null for the first, which may at once. */
  dueAt: number | null;
  /** Since when it is due, for the relay. */
  dueSince: number;
  /** When the relay looks at it. */
  lookAt: number;
  /** The attempt that is being made: its lease ends then; null for none. */
  leasedUntil: number | null;
}

export interface ModelJob {
  id: string;
  spaceId: string;
  request: CreateJobRequest;
  status: Status;
  attemptNumber: number;
  /** In a row, with no ack in between. */
  deliveryTimeouts: number;
  deliveredAt: number | null;
  startedAt: number | null;
  createdAt: number;
  updatedAt: number;
  result: JsonValue;
  /** What the last attempt of a dead job failed with. */
  error: JsonValue;
  progress: { data: Progress; at: number } | null;
  checkpoint: JsonValue;
  events: ModelEvent[];
  logs: LogEntry[];
  /** Seq of the newest log entry; 0 for none. */
  logSeq: number;
  /** At which something is due; null when nothing is. */
  deadline: number | null;
  callback: ModelCallback | null;
  /** Place in the space, by creation. */
  born: Place;
  /** Place in the queue of the space. */
  queued: Place;
}

/** A place in an order, and the time that goes with it: never before that of the place in front of it. */
export interface Place {
  ordinal: number;
  at: number;
}

/** A message about a job, as its space's stream has it. */
export interface ModelNews {
  seq: number | null;
  jobId: string;
  jobName: string;
  spaceId: string;
  type: EventType | 'logs_appended';
  status: Status;
  data: JsonValue;
  at: number;
}

export interface World {
  now: number;
  settings: StoreSettings;
  jobs: Map<string, ModelJob>;
  /** The last place that was given in each space that has jobs. */
  last: Map<string, Place>;
  /** When a scheduler last noticed that the clock had stepped forward, by partition. */
  stepped: Map<string, number>;
  /** By job, since calls at once come in any order. */
  news: Map<string, ModelNews[]>;
}

/** A verb's job, by its id, and the one space that the caller may touch; null for any. */
export interface OfJob {
  job: string;
  caller: string | null;
}

/** What a verb of the model throws where the store must refuse. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly jobStatus?: Status,
  ) {
    super(code);
  }
}

export const newWorld = (settings: StoreSettings, now: number): World => ({
  now,
  settings,
  jobs: new Map(),
  last: new Map(),
  stepped: new Map(),
  news: new Map(),
});

/** A copy that can go another way. Not by structuredClone, which is slower, and gives objects of another realm to jest. */
export function copyOf(world: World): World {
  const jobs = [...world.jobs].map(([id, job]): [string, ModelJob] => [
    id,
    { ...job, events: [...job.events], logs: [...job.logs], callback: job.callback && { ...job.callback } },
  ]);
  const { last, stepped, news } = world;
  return { ...world, jobs: new Map(jobs), last: new Map(last), stepped: new Map(stepped), news: new Map(news) };
}

/** The next place of a space: at its end. Its time does not go back when the clock does. */
export function nextPlace({ now, last }: World, spaceId: string): Place {
  const before = last.get(spaceId) ?? { ordinal: 0, at: 0 };
  const place = { ordinal: before.ordinal + 1, at: Math.max(now, before.at) };
  last.set(spaceId, place);
  return place;
}

/**
 * The job that a caller may touch.
 *
 * @param caller the one space that it may touch; null for any
 * @throws JOB_NOT_FOUND before FORBIDDEN
 */
export function jobFor(world: World, id: string, caller: string | null): ModelJob {
  const job = world.jobs.get(id);
  if (!job) throw new Refusal('JOB_NOT_FOUND');
  if (caller !== null && caller !== job.spaceId) throw new Refusal('FORBIDDEN');
  return job;
}

export const jobsOf = (world: World, spaceId: string) =>
  [...world.jobs.values()].filter((it) => it.spaceId === spaceId);

export const jobsIn = (world: World, partition: string) =>
  [...world.jobs.values()].filter((it) => partitionOf(it.spaceId) === partition);

/** A time as it is shown. */
export const iso = (ms: number) => new Date(ms).toISOString();
