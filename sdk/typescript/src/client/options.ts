import { type Duration, secondsOf } from '../durations.js';
import type { AnyJobs, JobTypes, NameOf, PayloadOf } from '../job-types.js';
import { jsonOf } from '../json.js';
import type { CreateJob, CreateJobCallbackOn, RetryRequest, UniqueRequest } from '../wire.generated.js';
import { Target } from './transport.js';

/** The service and the space to use. Missing options are read from the environment. */
export interface YardmasterOptions {
  /** URL of the service, without `/api/v1`. Default: `YARDMASTER_URL`, or http://127.0.0.1:8080 */
  url?: string;
  /** API key. Default: `YARDMASTER_API_KEY` */
  apiKey?: string;
  /** Namespace of the jobs. Default: `YARDMASTER_SPACE` */
  space?: string;
  /** How long to retry a call that gets no response or is refused temporarily. Default: 60 s */
  retryWindow?: Duration;
}

/** Job options. The service has a default for each. */
export interface CreateOptions {
  /** Delay before the job can be claimed. Default: none */
  delay?: Duration;
  /** Time from which the job can be claimed. Default: now */
  scheduledFor?: Date | string;
  /** Maximum number of retries after the first attempt. Default: 3 */
  maxRetries?: number;
  /** Delays between attempts. Default: none */
  retry?: RetryRequest;
  /** Longest time between heartbeats, which the worker sends. Default: 300 s */
  timeout?: Duration;
  /** Maximum duration of one attempt. Default: none */
  maxRun?: Duration;
  /** Maximum wait until a worker starts the job; after it, the job is dead. Default: none */
  startWithin?: Duration;
  /** Head start in the queue, in seconds. Default: 0 */
  priority?: number;
  /** Up to 10 words by which `list` and `operations` can find the job. */
  tags?: string[];
  /** Creates the job only if no other job holds this key. */
  unique?: UniqueRequest;
  /** URL to which the service posts the outcome of the job. */
  callbackUrl?: string;
  /** Headers of the callback. */
  callbackHeaders?: Record<string, string>;
  /** Outcomes that trigger the callback. Default: completed and dead */
  callbackOn?: CreateJobCallbackOn[];
}

/** Options of one call. */
export interface CallOptions {
  /** Deduplicates creates: a retry with the same key makes no second job. Default: random */
  idempotencyKey?: string;
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** Options for reading a job. */
export interface GetOptions {
  /**
   * Events to include: false for none, or a page of at most 100 (`limit`) that starts after an event number (`after`).
   * An event's ID ends with its number. To read the whole history, continue after the last event until a page is empty.
   * Default: all
   */
  events?: false | { after?: number; limit?: number };
  /** Cancels the call. */
  signal?: AbortSignal;
}

/** A job to create. The payload is a JSON object or null. */
export type NewJob<Jobs extends JobTypes<Jobs> = AnyJobs> = {
  [Name in NameOf<Jobs>]: { name: Name; options?: CreateOptions } & PayloadField<PayloadOf<Jobs, Name>>;
}[NameOf<Jobs>];

type PayloadField<Payload> = null extends Payload ? { payload?: Payload } : { payload: Payload };

/** Read the options and the environment. @throws TypeError that names what is missing or invalid */
export function targetOf({ url, apiKey, space }: YardmasterOptions): Target {
  const { env } = process;
  const fields = {
    url: (url ?? env.YARDMASTER_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
    apiKey: (apiKey ?? env.YARDMASTER_API_KEY ?? '').trim(), // A key from a file may end with a line break.
    space: space ?? env.YARDMASTER_SPACE ?? '',
  };
  if (!/^https?:$/.test(URL.canParse(fields.url) ? new URL(fields.url).protocol : ''))
    throw new TypeError(`The url option or YARDMASTER_URL is not an HTTP URL: ${fields.url}`);
  if (fields.apiKey === '') throw new TypeError('Set the apiKey option or the YARDMASTER_API_KEY variable');
  if (!/^[ -~]+$/.test(fields.apiKey))
    throw new TypeError('The apiKey option or YARDMASTER_API_KEY contains a character that no API key contains');
  if (fields.space === '') throw new TypeError('Set the space option or the YARDMASTER_SPACE variable');
  return new Target(fields);
}

/** Return the request body that creates a job. */
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
