import type { IncomingMessage } from 'node:http';
import {
  type ErrorCode,
  type JsonObject,
  type KnownFields,
  knownFieldsOf,
  type Scope,
  type Trigger,
  type UnknownName,
} from '@yardmaster/protocol';
import type { Authenticator, Principal, Store, Worker } from '@yardmaster/store';
import type { z } from 'zod';
import type { ListRow } from '../body/list-row.js';
import type { SizeLimitName, SizeLimits } from '../body/sizes.js';
import type { InflateBudget } from '../limits/inflate-budget.js';
import type { HeaderName } from '../request-header.js';
import type { CallWaits } from '../waiting/call-waits.js';

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

/** One endpoint: everything that the router, the checks, the handler and the OpenAPI document need. */
interface Row<B, A, E, P, L> {
  /** Name in the OpenAPI document (`operationId`). */
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * Scopes of which a key needs one. No row compiles without a scope, so that none can be forgotten; a row for every valid
   * key says so with ANY_KEY.
   */
  scopes: readonly [Scope, ...Scope[]] | typeof ANY_KEY;
  /** A scope that a key needs in addition to one of these. */
  alsoScope?: Scope;
  /** Name of the act that the audit records when a call succeeds. Its handler may set `act` of the call. */
  audit?: `${string}.${string}`;
  /** Group in the OpenAPI document. */
  tag: keyof typeof TAGS;
  summary: string;
  description?: string;
  /** Schema of the JSON body. Without it the body is not read. */
  body?: z.ZodType<B>;
  /** Whether it refuses unknown fields of its body, because an ignored one would leave its caller in a wrong belief. */
  isStrict?: true;
  /** Value of an absent body. Default `{}`; the schema then reports its missing fields. */
  absentBody?: null;
  /** Schema of the query. */
  query?: z.ZodType<B>;
  /** Schema of the query of a row that has a body, too. */
  options?: z.ZodObject;
  /** How it serves a body that is a list of such values. Without it, `body` decides about a list. */
  list?: ListRow<B, P, L>;
  /** Reads the body instead of `body`. */
  readBody?: (req: IncomingMessage, bounds: BodyBounds) => Promise<B>;
  sizeRules?: readonly SizeRule[];
  /** Request header that its handler needs, besides the API key. */
  header?: HeaderName;
  /** Whether it goes to Redis before all that is not urgent, because running jobs depend on it. Default false. */
  isUrgent?: true;
  /** Whether a call with this input goes to Redis before all that is not urgent, where not every call does. */
  isUrgentWith?(input: B): boolean;
  /** Field of the body that is a list of outcomes. With `outcomes`, the body may be as large as a list of jobs. */
  settlesIn?: 'outcomes' | 'settle';
  /** Whether its response needs no Redis. Default false. */
  isLocal?: true;
  /** Whether its response has headers for the next page. Default false. */
  isPaged?: true;
  /** Whether it may be a long read, which waits for a read slot. Default false. */
  isLong?: true;
  /**
   * Where a call says how long it may wait, in `waitSeconds`: a field of its body, or a parameter of its query. Default:
   * it does not wait.
   */
  waitSecondsIn?: 'body' | 'query';
  /** Status of a success. Default 200. */
  status?: 201 | 202;
  /** Schema of the body of a success. The handler does not compile when it returns another type. */
  response: z.ZodType<A>;
  /** Schema of the body of a success with status 200, for a row with another status. */
  response200?: z.ZodType<E>;
  /** Transition that it triggers. The statuses in which it is refused follow from the table of transitions. */
  trigger?: Trigger;
  /** Error codes of its verb that do not follow from the path, the body or the trigger. */
  refusals?: readonly ErrorCode[];
  /** Examples for the OpenAPI document: each value under a sentence that describes it. */
  examples: { request?: Examples; response: Examples; response200?: Examples };
  /** Field of the response that is a path parameter of other operations. */
  links?: { parameter: 'jobId' | 'keyId' | 'operationId'; from: string };
  /** @returns the body of the response */
  handler(call: Call<B>): Promise<NoInfer<A | E>>;
  /**
   * Waits, after the handler and without a slot at Redis. It must not keep the input of the call.
   *
   * @param first what the handler has returned
   * @returns the body of the response; null when there is nothing to wait for
   */
  wait?(call: Call<B>, first: NoInfer<A | E>, waits: CallWaits): Promise<NoInfer<A | E>> | null;
}

/** A row, and what its schemas know. */
export interface Route extends Row<unknown, unknown, unknown, unknown, unknown> {
  /** Fields of its JSON body. */
  fields: KnownFields;
  /** Parameters of its query. */
  parameters: readonly string[];
}

/** Tie a row's handler to its schemas; the table can then contain rows of all kinds. */
export function route<B, A, E = never, P = never, L = never>(row: Row<B, A, E, P, L>): Route {
  const fields = row.body === undefined ? null : knownFieldsOf(row.body);
  const parameters = row.query === undefined ? null : knownFieldsOf(row.query);
  return {
    ...(row as unknown as Row<unknown, unknown, unknown, unknown, unknown>),
    fields,
    parameters: [
      ...(parameters instanceof Map ? parameters.keys() : []),
      ...Object.keys(row.options?.shape ?? {}),
      ...(row.waitSecondsIn === 'query' ? ['waitSeconds'] : []),
    ],
  };
}

export type Examples = Record<string, unknown>;

/** Size limit of a part of a body; `path` null is the whole body. */
export interface SizeRule {
  path: string | null;
  limit: SizeLimitName;
}

/** One request after its checks: key, scope, path, and body or query are valid. */
export interface Call<B = unknown> {
  store: Store;
  authenticator: Authenticator;
  /** Master secrets of the callback secrets of all spaces, newest first; empty when callbacks are not signed. */
  callbackMasters: readonly Buffer[];
  caller: Principal;
  /** Space in the path; '' where the path has none. */
  spaceId: string;
  /** Job in the path; '' where the path has none. */
  jobId: string;
  /** API key in the path; '' where the path has none. */
  keyId: string;
  /** Operation in the path; '' where the path has none. */
  operationId: string;
  /** Output of the schema of the body or the query, or of `readBody`; for a list, what is kept of its items. */
  input: B;
  /** Output of the schema of the row's options; absent when the request has no query. */
  options?: Record<string, unknown>;
  /** Value of the row's request header; null without it. */
  header: string | null;
  /** What the call may wait for; null when it does not wait. */
  waits: CallWaits | null;
  /** For a poll: whether it must continue behind paused jobs, see pollJobs. */
  isMore: boolean;
  /** Return the URL of the stream of a job, for its creation with COMPAT=emit; null in any other mode. */
  streamUrlOf: ((jobId: string) => string) | null;
  /** What the audit records, for a row with `audit`. Nothing secret, and no data of jobs. */
  act?: { spaceId?: string | null; details?: JsonObject };
  /** Space of the job, for a row with `audit` whose caller is bound to no space; null for an unknown job. */
  spaceOfJob?: Promise<string | null>;
  /** For a list: runs one step at Redis once it is its turn, so that other calls come between the steps. */
  inTurn?: <T>(run: () => Promise<T>) => Promise<T>;
  /** Head of the response, where it differs from that of the row. An error has a head of its own. */
  head?: ResponseHead;
}

/** Status and headers of a response to a successful request. */
export interface ResponseHead {
  /** Default: the status of the row. */
  status?: number;
  headers?: Record<string, string>;
}

/** Limits for reading a body. */
export interface BodyBounds {
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  /** For lists that are larger than other bodies. */
  batchBudget: InflateBudget;
  /** Set the function to be called when the request is done, however it ends. */
  onDone: (release: () => void) => void;
  /** Gets the unknown fields of the body. */
  unknown: UnknownName[];
}

/** Return the response of operations that report only that the request is done. */
export const done = async (work: Promise<void>) => {
  await work;
  return { success: true } as const;
};

/** Return the caller of a worker's call, with its delivery token: its row has the header `x-delivery-token`. */
export const workerOf = ({ caller: { spaceId }, header }: Call): Worker => ({ spaceId, deliveryToken: header });

/** Example of that response. */
export const DONE: Examples = { Done: { success: true } };

/** Size rule of data that an event contains. */
export const eventSize = (path: string | null): readonly SizeRule[] => [{ path, limit: 'eventBytes' }];

/** Size rule of a payload or a result. */
export const payloadSize = (path: string): readonly SizeRule[] => [{ path, limit: 'payloadBytes' }];
