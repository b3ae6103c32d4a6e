import {
  createJobRequest,
  type ErrorCode,
  type JsonValue,
  type NewLog,
  type Progress,
  STATUSES,
  type Status,
} from '@yardmaster/protocol';
import { STORE_DEFAULTS } from '@yardmaster/store';
import { ATTEMPT_CALLS, heartbeat, type OfWorker } from './attempts.js';
import { redeliver } from './callbacks.js';
import { claim, create } from './delivering.js';
import { append } from './logs.js';
import { remove, requeue } from './manage.js';
import { reschedule } from './waiting.js';
import { newWorld, Refusal, type World } from './world.js';

// biome-ignore lint/suspicious/noExplicitAny: each call has a body of its own
type Body = any;

type JobCall = (world: World, of: OfWorker, body: Body) => unknown;

/** Make calls whose body has the fields of the verb; an absent body has none. */
const withFields = <Verb extends string>(verbs: Record<Verb, (world: World, input: Body) => unknown>) =>
  Object.fromEntries(
    Object.entries<(typeof verbs)[Verb]>(verbs).map(([name, verb]): [string, JobCall] => [
      name,
      (world, of, body) => verb(world, { ...of, ...body }),
    ]),
  ) as Record<Verb, JobCall>;

/** A job that is rescheduled to now, with its head start. */
const NOW = { delaySeconds: 0 };

/** The calls that change a job, by the last word of their path. */
const JOB_CALLS = {
  claim,
  ...withFields({ ...ATTEMPT_CALLS }),
  progress: (world, of, body) => heartbeat(world, { ...of, beat: { kind: 'progress', data: body as Progress } }),
  checkpoint: (world, of, body) => heartbeat(world, { ...of, beat: { kind: 'checkpoint', data: body } }),
  event: (world, of, body) => heartbeat(world, { ...of, beat: { kind: 'event', data: body } }),
  keepalive: (world, of) => heartbeat(world, { ...of, beat: { kind: 'keepalive' } }),
  logs: (world, of, body) => append(world, { ...of, logs: (body ?? []).map(logOf) }),
  reschedule: (world, of, body) =>
    reschedule(world, { scheduledFor: null, delaySeconds: null, priority: null, ...of, ...(body ?? NOW) }),
  requeue: (world, of, body) => requeue(world, { delaySeconds: null, ...of, ...body }),
  delete: remove,
  redeliver,
} satisfies Record<string, JobCall>;

const logOf = (log: string | NewLog): NewLog => (typeof log === 'string' ? ({ message: log } as NewLog) : log);

export type JobVerb = keyof typeof JOB_CALLS;

export const JOB_VERBS = Object.keys(JOB_CALLS) as JobVerb[];

/**
 * Call a verb on a job.
 *
 * @param call.caller the one space that the caller may touch; null, the default, for any
 * @param call.token delivery token of a worker's call; the default is none
 * @param call.body as the endpoint takes it, its times in epoch milliseconds; the default is null, for none
 * @throws Refusal; the world is then unchanged
 */
export function callJob(
  world: World,
  verb: JobVerb,
  { caller = null, body = null, ...of }: { job: string; caller?: string | null; token?: string | null; body?: Body },
): unknown {
  return (JOB_CALLS[verb] as JobCall)(world, { ...of, caller }, body);
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

/** Body of those calls: the field of a fail, which the others ignore. */
const BROKEN = { error: 'broken' };

/**
 * Create a world with one job in a status.
 *
 * @param fields of its create; it has no retries by default
 * @param settings those that are not the default ones
 */
export function worldWith(status: Status, fields: object = {}, settings = {}): { world: World; job: string } {
  const world = newWorld({ ...STORE_DEFAULTS, ...settings }, 0);
  const delaySeconds = status === 'scheduled' ? 3_600 : null;
  const request = createJobRequest.parse({ name: 'work', maxRetries: 0, delaySeconds, ...fields });
  const job = create(world, { id: 'job', space: 'space', request }).id;
  for (const step of CALLS_TO[status]) callJob(world, step, { job, body: BROKEN });
  return { world, job };
}

/**
 * Call a verb on a job in a status.
 *
 * @param call.callbackUrl of the job; the default is null
 * @returns its refusal; null when it is accepted
 */
export function refusalOf(
  verb: JobVerb,
  status: Status,
  { callbackUrl, ...call }: { callbackUrl?: string; token?: string | null; body?: JsonValue } = {},
): Refusal | null {
  const { world, job } = worldWith(status, { callbackUrl });
  try {
    callJob(world, verb, { job, ...call });
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Token of a delivery that no job had. */
const NO_DELIVERY = '99.99';

/** Return every code with which a verb is refused in some status: without a token, with that of the job, or with another. */
export function codesOf(verb: JobVerb): Set<ErrorCode> {
  const codes = new Set<ErrorCode>();
  for (const status of STATUSES) {
    const { world, job } = worldWith(status);
    const latest = world.jobs.get(job)?.deliveries.at(-1)?.token ?? null;
    for (const token of [null, latest, NO_DELIVERY]) {
      const refusal = refusalOf(verb, status, { token });
      if (refusal !== null) codes.add(refusal.code);
    }
  }
  return codes;
}
