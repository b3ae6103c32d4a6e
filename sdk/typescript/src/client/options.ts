import { type Duration, secondsOf } from '../durations.js';
import type { AnyJobs, JobTypes, NameOf, PayloadOf } from '../job-types.js';
import { jsonOf } from '../json.js';
import type { CreateJob, CreateJobCallbackOn, RetryRequest, UniqueRequest } from '../wire.generated.js';
import { Target } from './transport.js';

/** Which service and which space to use. What is missing is read from the environment. */
export interface YardmasterOptions {
  /** URL of the service, without `/api/v1`. Default: `YARDMASTER_URL`, or http://127.0.0.1:8080 */
  url?: string;
  /** Default: `YARDMASTER_API_KEY` */
  apiKey?: string;
  /** Namespace of the jobs. Default: `YARDMASTER_SPACE` */
  space?: string;
  /** How long a call that has no response, or is refused for now, is sent again. Default: 60 s */
  retryWindow?: Duration;
}

/** Options of a job. Those that are left out have the default of the service. */
export interface CreateOptions {
  /** Not before this time has passed. */
  delay?: Duration;
  /** Not before this time. */
  scheduledFor?: Date | string;
  /** Attempts after the first. Default: 3 */
  maxRetries?: number;
  /** Delays between attempts. Default: none */
  retry?: RetryRequest;
  /** Longest time between two heartbeats, which the worker sends. Default: 300 s */
  timeout?: Duration;
  /** Longest time of one attempt. Default: none */
  maxRun?: Duration;
  /** Longest time until a worker starts the job. Default: none */
  startWithin?: Duration;
  /** Head start in the queue, in seconds. Default: 0 */
  priority?: number;
  /** Words by which `list` and `operations` find the job: at most 10. */
  tags?: string[];
  /** Create the job only if no job has this key. */
  unique?: UniqueRequest;
  /** Where the service reports the end of the job. */
  callbackUrl?: string;
  callbackHeaders?: Record<string, string>;
  callbackOn?: CreateJobCallbackOn[];
}

/** Of one call. */
export interface CallOptions {
  /** Names the create: one that is sent again with the same key makes no second job. Default: random */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Of one read of a job. */
export interface GetOptions {
  /**
   * Which events of the history to return: none, or a page of at most 100 (`limit`), those after a number (`after`). The
   * number of an event is the end of its id; read on after the last one until a page is empty. Default: all
   */
  events?: false | { after?: number; limit?: number };
  signal?: AbortSignal;
}

/** A job to create. The payload is a JSON object, or null. */
export type NewJob<Jobs extends JobTypes<Jobs> = AnyJobs> = {
  [Name in NameOf<Jobs>]: { name: Name; options?: CreateOptions } & PayloadField<PayloadOf<Jobs, Name>>;
}[NameOf<Jobs>];

type PayloadField<Payload> = null extends Payload ? { payload?: Payload } : { payload: Payload };

/** @throws an error that names what is missing */
export function targetOf({ url, apiKey, space }: YardmasterOptions): Target {
  const { env } = process;
  const fields = {
    url: (url ?? env.YARDMASTER_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
    apiKey: (apiKey ?? env.YARDMASTER_API_KEY ?? '').trim(), // One from a file may end with a line break.
    space: space ?? env.YARDMASTER_SPACE ?? '',
  };
  if (!/^https?:$/.test(URL.canParse(fields.url) ? new URL(fields.url).protocol : ''))
    throw new TypeError(`The option url, or YARDMASTER_URL, is not an HTTP URL: ${fields.url}`);
  if (fields.apiKey === '') throw new TypeError('Set the option apiKey, or the variable YARDMASTER_API_KEY');
  if (!/^[ -~]+$/.test(fields.apiKey))
    throw new TypeError('The option apiKey, or YARDMASTER_API_KEY, has a character that no key has');
  if (fields.space === '') throw new TypeError('Set the option space, or the variable YARDMASTER_SPACE');
  return new Target(fields);
}

/** Return the body of a create. */
export function bodyOf({ name, payload = null, options = {} }: NewJob): CreateJob {
  jsonOf(payload, 'payload');
  const { delay, scheduledFor, timeout, maxRun, startWithin, ...others } = options;
  const seconds = (field: keyof CreateJob, duration: Duration | undefined, option: string) =>
    duration === undefined ? {} : { [field]: secondsOf(duration, option) };
  return {
    name,
    payload: payload as Record<string, unknown> | null,
    ...others,
    ...seconds('delaySeconds', delay, 'delay'),
    ...seconds('timeoutSeconds', timeout, 'timeout'),
    ...seconds('maxRunSeconds', maxRun, 'maxRun'),
    ...seconds('startWithinSeconds', startWithin, 'startWithin'),
    ...(scheduledFor !== undefined && { scheduledFor: timestampOf(scheduledFor) }),
  };
}

export const timestampOf = (at: Date | string): string => new Date(at).toISOString();
