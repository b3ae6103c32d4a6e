import type { IncomingMessage } from 'node:http';
import type { Scope } from '@yardmaster/protocol';
import type { KeyRing, Principal, Store } from '@yardmaster/store';
import type { z } from 'zod';
import type { Incoming } from './logs/incoming.js';
import type { OperationName } from './openapi/operations.js';
import type { PartLimit, SizeLimits } from './sizes.js';

/** A part of a body that has a size limit of its own; `path` null is the whole body. */
export interface Measured {
  path: string | null;
  limit: PartLimit;
}

/** One request, checked: key, scope, path, and body or query are what they must be. */
export interface Call<B = unknown> {
  store: Store;
  keyRing: KeyRing;
  /** What the callback secrets of all spaces are derived from, newest first; empty when callbacks are not signed. */
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

/** What bounds the reading of a body. */
export interface BodyBounds {
  sizes: SizeLimits;
  incoming: Incoming;
  /** Have something called when the request is done with, however it ends. */
  onDone: (release: () => void) => void;
}

interface Row<B, A> {
  /** What it is called, and told of, in the OpenAPI document. */
  operation: OperationName;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Any one of them will do. There is no row without: a scope cannot be forgotten. */
  scopes: readonly [Scope, ...Scope[]];
  /** Schema of the JSON body. Without it a body is not read. */
  body?: z.ZodType<B>;
  /** What an absent body stands for. Default `{}`, whose missing fields the schema then names. */
  absentBody?: null;
  /** Schema of the query. */
  query?: z.ZodType<B>;
  /** Reads the body in place of `body`. */
  read?: (req: IncomingMessage, bounds: BodyBounds) => Promise<B>;
  measured?: readonly Measured[];
  /** Whether it goes to Redis before all that is not: what running jobs depend on. Default false. */
  isUrgent?: true;
  /** Whether it is answered without Redis. Default false. */
  isLocal?: true;
  /** Whether it may be a long read, which waits for its turn. Default false. */
  isLong?: true;
  /** Status of a success. Default 200. */
  created?: true;
  /** Schema of the body of a success, for the document; what `run` returns must be of its type. */
  answer: z.ZodType<A>;
  /** @returns the body of the answer */
  run(call: Call<B>): Promise<NoInfer<A>>;
}

export type Route = Row<unknown, unknown>;

/** Ties a row's `run` to its schema; the table then holds rows of all kinds. */
export const route = <B, A>(row: Row<B, A>): Route => row as unknown as Route;
