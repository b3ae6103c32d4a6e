import { doneResponse, type ErrorCode, type Trigger } from '@yardmaster/protocol';
import type { AcceptedScopes } from '@yardmaster/server';
import type { z } from 'zod';
import { type Act, type Call, type Examples, Reply } from '../call.js';
import type { HeaderName, Input } from '../input/input.js';

/** Groups of operations in the OpenAPI document, in the order in which a newcomer needs them. */
export const TAGS = {
  Jobs: 'For producers and operators: create, kill, requeue, copy and delete jobs, and send their callbacks again.',
  Operations: 'For operators: requeue, kill, delete or reschedule many jobs at once.',
  Work: 'For workers: claim jobs, report progress, and complete or fail them.',
  Reading: 'For clients that read jobs. To receive events instead of polling, open a stream.',
  Logs: 'For workers that write logs, and for clients that read them.',
  Spaces: 'For operators: settings of a space, and its pause.',
  Keys: 'For administrators: API keys, callback secrets, and the audit of what was done with the keys.',
} as const;

/** Instead of scopes: any valid key may make the call, because it shows nothing that its caller does not have. */
export const ANY_KEY = 'any key';

/**
 * How a call goes to Redis: `urgent` calls go first, because running jobs depend on them; a `long` read waits for a read
 * slot as well; `none` takes no slot, because it needs no Redis or takes a slot for each of its steps.
 */
export type Slot = 'urgent' | 'normal' | 'long' | 'none';

/** The response to a request that is not refused. */
export interface Success<A> {
  /** Default 200. */
  status?: 201 | 202;
  /** Schema of the body. The handler does not compile when it returns another type. */
  schema: z.ZodType<A>;
  examples: Examples;
  /** Response with status 200 of a row with another status. */
  else200?: { schema: z.ZodType<A>; examples: Examples };
  /** Field of the body that is a path parameter of other operations. */
  link?: { parameter: 'jobId' | 'keyId' | 'operationId'; from: string };
  /** Whether it has headers for the next page. Default false. */
  isPaged?: true;
}

/** One endpoint: everything that the router, the checks, the handler and the OpenAPI document need. */
export interface Row<B, A> {
  /** Name in the OpenAPI document (`operationId`). */
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * Scopes of which a key needs one; inside a list, all. No row compiles without a scope, so that none can be forgotten; a
   * row for every valid key says so with ANY_KEY.
   */
  scopes: AcceptedScopes | typeof ANY_KEY;
  /** Group in the OpenAPI document. */
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  /** Reads the query or the body. Without it, neither is read. */
  input?: Input<B>;
  /** Request header that its handler needs, besides the API key. */
  header?: HeaderName;
  /** How it goes to Redis, where necessary by its input. Default `normal`. */
  slot?: Slot | ((input: B) => Slot);
  /** Units of its work at Redis, beyond those of every call: known by its input, or by its response. */
  units?: { before?(input: B): number; after?(body: A): number };
  success: Success<A>;
  /** Transition that it triggers. The statuses in which it is refused follow from the table of transitions. */
  trigger?: Trigger;
  /** Error codes of its verb that do not follow from the path, the input or the trigger. */
  refusals?: readonly ErrorCode[];
  /**
   * Name of the act that the audit records when a call succeeds. Its handler may return what is recorded, and returns null
   * when the call has changed nothing.
   */
  audit?: `${string}.${string}`;
  /** @returns the body of the response, or a Reply */
  handler(call: Call<B>): Promise<NoInfer<A> | Reply<NoInfer<A>>>;
}

export type Route = Row<unknown, unknown>;

/** Tie a row's handler to its schemas; the table can then contain rows of all kinds. */
export const route = <B, A>(row: Row<B, A>): Route => row as unknown as Route;
/** Success of operations that report only that the request is done. */
export const DONE: Success<{ success: true }> = { schema: doneResponse, examples: { Done: { success: true } } };

/** Return the body of that success. */
export const done = async (work: Promise<void>) => {
  await work;
  return { success: true } as const;
};

/** The same for work that returns whether it has changed something; otherwise the audit records nothing. */
export const doneIf = async (work: Promise<boolean>, act: Act = {}) => {
  const isChanged = await work;
  return new Reply({ success: true as const }, { act: isChanged ? act : null });
};
