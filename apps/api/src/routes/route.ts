import { doneResponse, type ErrorCode, type Trigger } from '@yardmaster/protocol';
import type { AcceptedScopes } from '@yardmaster/server';
import type { z } from 'zod';
import { type Act, type Call, type Examples, Reply } from '../call.js';
import type { HeaderName, Input } from '../input/input.js';

/** Groups of operations in the OpenAPI document, in the order in which a newcomer needs them. */
export const TAGS = {
  Jobs: 'For producers and operators: create, kill, requeue, copy and delete jobs, and redeliver their callbacks.',
  Operations: 'For operators: requeue, kill, delete or reschedule many jobs at once.',
  Work: 'For workers: claim jobs, report progress, and complete or fail them.',
  Reading: 'For clients that read jobs. To receive events as they happen instead of polling, open a stream.',
  Logs: 'For workers that write logs and clients that read them.',
  Schedules: 'For operators and deployments: create jobs at recurring times.',
  Spaces: 'For operators: change the settings of a space, pause it and resume it.',
  Keys: 'For administrators: API keys, callback secrets and the audit log.',
} as const;

/** Used instead of scopes: any valid key may make the call, which reveals nothing beyond the key itself. */
export const ANY_KEY = 'any key';

/**
 * How a call is admitted to Redis: `urgent` calls go first, because running jobs depend on them; a `long` read also needs
 * a read slot; `none` takes no slot, because the call doesn't use Redis or takes a slot for each step.
 */
export type Slot = 'urgent' | 'normal' | 'long' | 'none';

/** The response to a successful request. */
export interface Success<A> {
  /** Default 200. */
  status?: 201 | 202;
  /** Schema of the body. A handler that returns another type doesn't compile. */
  schema: z.ZodType<A>;
  examples: Examples;
  /** Alternative response with status 200, if `status` is another. */
  else200?: { schema: z.ZodType<A>; examples: Examples };
  /** Field of the body that is a path parameter of other operations. */
  link?: { parameter: 'jobId' | 'keyId' | 'operationId' | 'scheduleId'; from: string };
  /** Whether the response has headers for the next page. Default false. */
  isPaged?: true;
}

/** One endpoint: everything that the router, the checks, the handler and the OpenAPI document need. */
export interface Row<B, A> {
  /** Name in the OpenAPI document (`operationId`). */
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * Scopes of which the key needs one; of an inner list, all. Required, so that none can be forgotten: a row that accepts
   * any valid key says so with ANY_KEY.
   */
  scopes: AcceptedScopes | typeof ANY_KEY;
  /** Group in the OpenAPI document. */
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  /** Reads the query or the body. Without it, neither is read. */
  input?: Input<B>;
  /** Request header that the handler needs in addition to the API key. */
  header?: HeaderName;
  /** How the call is admitted to Redis; may depend on its input. Default `normal`. */
  slot?: Slot | ((input: B) => Slot);
  /** Units of work in Redis on top of those of every call, derived from the input or the response. */
  units?: { before?(input: B): number; after?(body: A): number };
  success: Success<A>;
  /** Transition that the call triggers. The table of transitions tells in which statuses it is refused. */
  trigger?: Trigger;
  /** Error codes of the verb that don't follow from the path, the input or the trigger. */
  refusals?: readonly ErrorCode[];
  /**
   * Name of the act that the audit records if the call succeeds. The handler may return details to record, or null if the
   * call has changed nothing.
   */
  audit?: `${string}.${string}`;
  /** @returns the body of the response, or a Reply */
  handler(call: Call<B>): Promise<NoInfer<A> | Reply<NoInfer<A>>>;
}

export type Route = Row<unknown, unknown>;

/** Check a row's handler against its schemas, and return it as an entry of the table, which has rows of all types. */
export const route = <B, A>(row: Row<B, A>): Route => row as unknown as Route;

/** Response of operations that report only that the request is done. */
export const DONE: Success<{ success: true }> = { schema: doneResponse, examples: { Done: { success: true } } };

/** Wait for work, and return the body of `DONE`. */
export const done = async (work: Promise<void>) => {
  await work;
  return { success: true } as const;
};

/** Wait for work that returns whether it has changed anything, and return `DONE`, with an act to audit only if it has. */
export const doneIf = async (work: Promise<boolean>, act: Act = {}) => {
  const isChanged = await work;
  return new Reply({ success: true as const }, { act: isChanged ? act : null });
};
