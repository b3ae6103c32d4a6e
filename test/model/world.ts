import type {
  CreateJobRequest,
  ErrorCode,
  EventType,
  JsonObject,
  JsonValue,
  LogEntry,
  Progress,
  Status,
} from '@yardmaster/protocol';
import { partitionOf, type StoreSettings } from '@yardmaster/store';

// What the specification defines, without how the store keeps it: each verb is a function that changes a world and
// returns the response. Times are epoch milliseconds.

export interface ModelEvent {
  seq: number;
  type: EventType;
  data: JsonValue;
  at: number;
  /** Of the job, after the event. */
  status: Status;
}

/** The callback of an ended job (see packages/store/src/callbacks/outbox.ts). */
export interface ModelCallback {
  isPending: boolean;
  /** POSTs whose outcome is recorded. */
  attempts: number;
  series: number;
  /** When the next attempt may begin; null before the first, which may begin at once. */
  dueAt: number | null;
  /** Since when the relay counts it as due. */
  dueSince: number;
  /** When the relay next returns it. */
  relayAt: number;
  /** When the lease of the attempt in progress ends; null if there is no attempt. */
  leasedUntil: number | null;
}

/** A request with the numbers that it may leave out. */
export type ModelRequest = CreateJobRequest & { maxRetries: number; timeoutSeconds: number };

export const completed = ({ maxRetries = 3, timeoutSeconds = 300, ...request }: CreateJobRequest): ModelRequest => ({
  ...request,
  maxRetries,
  timeoutSeconds,
});

export interface ModelJob {
  id: string;
  spaceId: string;
  request: ModelRequest;
  /** The request that created it, which a later one may have replaced. */
  firstRequest: ModelRequest;
  idempotencyKey: string | null;
  /** The job of which this one is a copy; null for one that is none. */
  copyOf: string | null;
  /** Whether an ack, or the next job with the unique key, has freed the key. */
  isUniqueFreed: boolean;
  status: Status;
  /** Head start in the queue, in seconds. It is that of the request, until the job is rescheduled with another. */
  priority: number;
  /** The latest time for which it has waited, or waits; null for a job that never had to wait. */
  scheduledFor: number | null;
  /** Until when the first ack must come; null before the job is claimable for the first time, or without a limit. */
  startBy: number | null;
  /** Whether a worker has acked it, so that `startBy` does not count any more. */
  isStarted: boolean;
  /** Whether a sweep has found it delivered with `startBy` in the past. It then dies when it is taken back. */
  isStartSwept: boolean;
  /** When the attempt must end; null without a limit. */
  runBy: number | null;
  attemptNumber: number;
  /** Delivery timeouts since the last ack. */
  deliveryTimeouts: number;
  /** Delivery timeouts, releases and requeues. */
  returns: number;
  /** Every delivery, in order. */
  deliveries: Delivery[];
  deliveredAt: number | null;
  startedAt: number | null;
  createdAt: number;
  updatedAt: number;
  result: JsonValue;
  /** Error of the latest attempt that failed. */
  error: string | JsonObject | null;
  progress: { data: Progress; at: number } | null;
  checkpoint: JsonValue;
  events: ModelEvent[];
  logs: LogEntry[];
  /** Seq of the newest log entry; 0 for none. */
  logSeq: number;
  /** When the window ends or the job is purged; null for never. */
  deadline: number | null;
  callback: ModelCallback | null;
  /** Of a killed job. */
  killReason: string | null;
  /** Place in the space, by creation; see nextOrder. */
  createdOrder: number;
  /** Place in the queue of the space, without the head start. */
  claimOrder: number;
}

export interface Delivery {
  token: string;
  /** Whether its attempt has failed or timed out, or the job was taken back. */
  isGivenUp: boolean;
  /** Whether the job was taken back from it: it timed out without an ack, or was released. The default is no. */
  isTakenBack?: boolean;
}

/** A message about a job, as published on its space's channel. */
export interface ModelMessage {
  seq: number | null;
  jobId: string;
  jobName: string;
  spaceId: string;
  type: EventType | 'logs_appended';
  status: Status;
  data: JsonValue;
  at: number;
  /** Of a job that has some. */
  tags?: readonly string[];
}

/** A moment of Redis' clock, and what the store draws then. */
export interface Moment {
  now: number;
  /** The number that the store draws for the jitter of retries: at least 0 and below 1. */
  random: number;
}

/** Return a moment whose number for jitter differs from that of the millisecond before. */
export const momentAt = (ms: number): Moment => ({ now: ms, random: ((ms % 997) * 0.618) % 1 });

/** Settings that decide what happens to jobs. */
export type WorldSettings = Omit<StoreSettings, 'isClockManual' | 'random' | 'keysPerSpace'>;

export interface World extends Moment {
  settings: WorldSettings;
  jobs: Map<string, ModelJob>;
  /** The newest order in each space that has jobs. */
  last: Map<string, number>;
  /** When a scheduler last noticed that the clock had stepped forward, by partition. */
  stepped: Map<string, number>;
  /** Names of paused jobs by space; '' for the whole space. */
  paused: Map<string, Set<string>>;
  /** When a sweep next looks after the paused names of a space, by space. */
  tendAt: Map<string, number>;
  /** By job, because concurrent calls publish in any order. */
  messages: Map<string, ModelMessage[]>;
}

/** The id of a verb's job, and the one space that the caller may touch; null for any. */
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

export const newWorld = (settings: WorldSettings, now: number): World => ({
  ...{ now, random: 0 },
  settings,
  jobs: new Map(),
  last: new Map(),
  stepped: new Map(),
  paused: new Map(),
  tendAt: new Map(),
  messages: new Map(),
});

/** Copy a world. structuredClone would be slower, and would give jest objects of another realm. */
export function copyOf(world: World): World {
  const jobs = [...world.jobs].map(([id, job]): [string, ModelJob] => [
    id,
    {
      ...job,
      deliveries: job.deliveries.map((one) => ({ ...one })),
      events: [...job.events],
      logs: [...job.logs],
      callback: job.callback && { ...job.callback },
    },
  ]);
  const { last, stepped, paused, tendAt, messages } = world;
  return {
    ...world,
    jobs: new Map(jobs),
    last: new Map(last),
    stepped: new Map(stepped),
    paused: new Map(paused), // Its sets are replaced, and never changed.
    tendAt: new Map(tendAt),
    messages: new Map(messages),
  };
}

/** Units of an order in a second. */
export const ORDERS_PER_SECOND = 1_024_000;

/**
 * Return the next order of a space: the time in 1/1024 ms, and after every previous order, even when the clock goes
 * back.
 *
 * @param fraction of the millisecond, in 1/1024 ms
 */
export function nextOrder({ now, last }: World, spaceId: string, fraction = 0): number {
  const order = Math.max((last.get(spaceId) ?? 0) + 1, now * 1_024 + fraction);
  last.set(spaceId, order);
  return order;
}

/** Return the time of an order, epoch milliseconds. */
export const timeOfOrder = (order: number) => Math.floor(order / 1_024);

/**
 * Return a job that a caller may touch.
 *
 * @param caller the one space that the caller may touch; null for any
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

/** Forget a job, and the order of a space without jobs. */
export function forget(world: World, { id, spaceId }: ModelJob): void {
  world.jobs.delete(id);
  if (jobsOf(world, spaceId).length === 0) world.last.delete(spaceId);
}

/** Write a time as responses show it. */
export const iso = (ms: number) => new Date(ms).toISOString();

/** When the clock last stepped forward. A time in the future is from before a step back, and is ignored. */
export function steppedAt({ now, stepped }: World, partition: string): number {
  const at = stepped.get(partition) ?? 0;
  return at <= now ? at : 0;
}
