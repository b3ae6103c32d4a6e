import {
  createJobRequest,
  type JsonObject,
  type JsonValue,
  type NewLog,
  type Progress,
  type RescheduleRequest,
  type Status,
} from '@yardmaster/protocol';
import { STORE_DEFAULTS } from '@yardmaster/store';
import { ack, complete, fail, heartbeat, kill, type OfWorker, type RetryFields, release } from './attempts.js';
import { redeliver } from './callbacks.js';
import { claim, create } from './delivering.js';
import { append } from './logs.js';
import { remove, requeue } from './manage.js';
import { reschedule } from './waiting.js';
import { newWorld, Refusal, type World } from './world.js';

/** Fields of the bodies of fail, release and requeue about the next attempt; those left out have their default. */
type CallOptions = RetryFields & { delaySeconds?: number | null };

type JobCall = (world: World, of: OfWorker, data: JsonValue, options: CallOptions) => unknown;

/** A job that is rescheduled to now, with its head start. */
const NOW: RescheduleRequest = { scheduledFor: null, delaySeconds: 0, priority: null };

/** The calls that change a job, by the last word of their path. `data` comes from the body. */
const JOB_CALLS = {
  claim,
  ack,
  progress: (world, of, data) => heartbeat(world, { ...of, beat: { kind: 'progress', data: data as Progress } }),
  checkpoint: (world, of, data) => heartbeat(world, { ...of, beat: { kind: 'checkpoint', data } }),
  event: (world, of, data) => heartbeat(world, { ...of, beat: { kind: 'event', data } }),
  keepalive: (world, of) => heartbeat(world, { ...of, beat: { kind: 'keepalive' } }),
  logs: (world, of, data) => append(world, { ...of, logs: data as unknown as NewLog[] }),
  complete: (world, of, data) => complete(world, { ...of, result: data }),
  fail: (world, of, data, options) => fail(world, { ...of, ...options, error: data as string | JsonObject }),
  release: (world, of, data, options) => release(world, { ...of, ...options, reason: data as string | null }),
  reschedule: (world, of, data) => reschedule(world, { ...of, ...((data as RescheduleRequest | null) ?? NOW) }),
  requeue: (world, of, _, { delaySeconds = null }) => requeue(world, { ...of, delaySeconds }),
  delete: remove,
  kill: (world, of, data) => kill(world, { ...of, reason: data as string | null }),
  redeliver,
} satisfies Record<string, JobCall>;

export type JobVerb = keyof typeof JOB_CALLS;

export const JOB_VERBS = Object.keys(JOB_CALLS) as JobVerb[];

/**
 * Call a verb on a job.
 *
 * @param call.caller the one space that the caller may touch; null, the default, for any
 * @param call.token delivery token of a worker's call; the default is none
 * @param call.data data of the body, with defaults filled in; the default is null. Reschedule has the whole body as its
 *   data, and null for now
 * @param call.options further fields of the body of fail, release and requeue; the default is none
 * @throws Refusal; the world is then unchanged
 */
export function callJob(
  world: World,
  verb: JobVerb,
  {
    caller = null,
    data = null,
    options = {},
    ...of
  }: { job: string; caller?: string | null; token?: string | null; data?: JsonValue; options?: CallOptions },
): unknown {
  return (JOB_CALLS[verb] as JobCall)(world, { ...of, caller }, data, options);
}

const RUN: JobVerb[] = ['claim', 'ack'];

/** The calls that bring a job without retries from its creation to a status. */
const CALLS_TO: Record<Status, readonly JobVerb[]> = {
  scheduled: [],
  pending: [],
  delivered: ['claim'],
  running: RUN,
  completed: [...RUN, 'complete'],
  dead: [...RUN, 'fail'],
  killed: ['kill'],
};

const SETTINGS = STORE_DEFAULTS;

/**
 * Return the refusal of a verb on a job in a status.
 *
 * @param callbackUrl of the job; the default is null
 * @returns null when the verb is accepted
 */
export function refusalOf(verb: JobVerb, status: Status, callbackUrl: string | null = null): Refusal | null {
  const world = newWorld(SETTINGS, 0);
  const delaySeconds = status === 'scheduled' ? 3_600 : null;
  const request = createJobRequest.parse({ name: 'work', maxRetries: 0, callbackUrl, delaySeconds });
  const job = create(world, { id: 'job', space: 'space', request }).id;
  for (const step of CALLS_TO[status]) callJob(world, step, { job });
  try {
    callJob(world, verb, { job, data: verb === 'logs' ? [] : null });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
