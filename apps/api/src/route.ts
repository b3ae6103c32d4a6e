import type { Scope } from '@yardmaster/protocol';
import type { KeyRing, Principal, Store } from '@yardmaster/store';
import type { z } from 'zod';
import type { SizeLimits } from './sizes.js';

/** A part of a body that has a size limit of its own; `path` null is the whole body. */
export interface Measured {
  path: string | null;
  limit: keyof SizeLimits;
}

/** One request, checked: key, scope, path, and body or query are what they must be. */
interface Call<B> {
  store: Store;
  keyRing: KeyRing;
  caller: Principal;
  /** Space in the path; '' where the path has none. */
  spaceId: string;
  /** Job in the path; '' where the path has none. */
  jobId: string;
  /** API key in the path; '' where the path has none. */
  keyId: string;
  /** Output of the row's schema. */
  input: B;
}

interface Row<S extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Any one of them will do. There is no row without: a scope cannot be forgotten. */
  scopes: readonly [Scope, ...Scope[]];
  /** Schema of the JSON body. Without it a body is not read. */
  body?: S;
  /** What an absent body stands for. Default `{}`, whose missing fields the schema then names. */
  absentBody?: null;
  /** Schema of the query. */
  query?: S;
  measured?: readonly Measured[];
  /** Status of a success. Default 200. */
  created?: true;
  /** Whether the answer may be megabytes long. */
  isLarge?: true;
  /** @returns the body of the answer */
  run(call: Call<z.output<S>>): Promise<unknown>;
}

export type Route = Row<z.ZodType>;

/** Ties a row's `run` to its schema; the table then holds rows of all kinds. */
export const route = <S extends z.ZodType>(row: Row<S>): Route => row as unknown as Route;
