import type { IncomingMessage } from 'node:http';
import type { Scope } from '@yardmaster/protocol';
import type { Authenticator, Principal, Store } from '@yardmaster/store';
import type { z } from 'zod';
import type { InflateBudget } from './limits/inflate-budget.js';
import type { OperationName } from './openapi/operations.js';
import type { SizeLimitName, SizeLimits } from './sizes.js';

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
  /** Output of the row's schema, or of its reader. */
  input: B;
}

/** Limits for reading a body. */
export interface BodyBounds {
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  /** Set the function to be called when the request is done, however it ends. */
  onDone: (release: () => void) => void;
}

interface Row<B, A> {
  /** Name of its operation in the OpenAPI document. */
  operation: OperationName;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Any one of them is enough. No row may be without one, so that a scope cannot be forgotten. */
  scopes: readonly [Scope, ...Scope[]];
  /** Schema of the JSON body. Without it a body is not read. */
  body?: z.ZodType<B>;
  /** Value of an absent body. Default `{}`; the schema then reports its missing fields. */
  absentBody?: null;
  /** Schema of the query. */
  query?: z.ZodType<B>;
  /** Reads the body instead of `body`. */
  read?: (req: IncomingMessage, bounds: BodyBounds) => Promise<B>;
  measured?: readonly SizeRule[];
  /** Whether it goes to Redis before all that is not urgent, because running jobs depend on it. Default false. */
  isUrgent?: true;
  /** Whether its response needs no Redis. Default false. */
  isLocal?: true;
  /** Whether it may be a long read, which waits for a read slot. Default false. */
  isLong?: true;
  /** Status of a success. Default 200. */
  created?: true;
  /** Schema of the body of a success, for the document; what `run` returns must be of its type. */
  response: z.ZodType<A>;
  /** @returns the body of the response */
  run(call: Call<B>): Promise<NoInfer<A>>;
}

export type Route = Row<unknown, unknown>;

/** Tie a row's `run` to its schema; the table can then contain rows of all kinds. */
export const route = <B, A>(row: Row<B, A>): Route => row as unknown as Route;
