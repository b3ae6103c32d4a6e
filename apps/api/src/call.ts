import type { JsonObject } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Audit, KeyCheck } from '@yardmaster/server';
import type { Principal, Store } from '@yardmaster/store';
import type { Request, Response } from 'express';
import type { InflateBudget } from './limits/budgets.js';
import type { KeyLimiter } from './limits/key-limiter.js';
import type { Place, Places } from './limits/places.js';
import type { RedisQueue } from './limits/redis-queue.js';
import type { LongPolling } from './waiting/long-polling.js';

/** Size limits, which operators can change. */
export interface SizeLimits {
  /** Whole body, on the wire and decompressed. */
  bodyBytes: number;
  /** Body that is a list of jobs, on the wire and decompressed. */
  batchBytes: number;
  /** `payload` and `result`, as JSON text. */
  payloadBytes: number;
  /** Progress, checkpoint, event and error, as JSON text. */
  eventBytes: number;
  /** Batch of logs, on the wire. */
  logWireBytes: number;
  /** Batch of logs, decompressed. */
  logBatchBytes: number;
  /** Log entry, as JSON text. */
  logEntryBytes: number;
  /** Number of entries per batch of logs. */
  logEntries: number;
}

/** State and services that all calls of a process share. */
export interface Dependencies extends KeyCheck {
  store: Store;
  log: Logger;
  /** Return the master secrets for signing callbacks, newest first; empty if callbacks are not signed. */
  callbackMasters(): readonly Buffer[];
  /** Whether COMPAT=emit is set. */
  isEmit: boolean;
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  batchBudget: InflateBudget;
  /** Return the address of a request's client. */
  addressOf(req: Request): string;
  audit: Audit;
  /** How long Redis may take for one request, milliseconds. */
  budgetMs: number;
  redisQueue: RedisQueue;
  /** Places for requests whose body is still arriving, and for requests that are being served. */
  places: { arriving: Places; inFlight: Places };
  keyLimiter: KeyLimiter;
  waiting: LongPolling;
}

/** IDs in a path. */
export interface Params {
  /** ID of the space in the path; '' if it has none. */
  spaceId: string;
  /** ID of the job, API key, operation or schedule in the path; '' if it has none. */
  id: string;
}

/** A request that has passed its checks: path, key, scope and input are valid. */
export interface Call<B = unknown> extends Params {
  deps: Dependencies;
  store: Store;
  req: Request;
  res: Response;
  caller: Principal;
  /** Tenant whose share of the service the call uses; see tenantOf. */
  tenant: string;
  place: Place;
  /** Size of the decompressed body in bytes. */
  bytes: number;
  /** Output of the row's `input`. */
  input: B;
  /** Value of the row's request header; null if absent. */
  header: string | null;
}

/** The body of a response, and how the response differs from the row's default. */
export class Reply<A> {
  constructor(
    readonly body: A,
    readonly more: ReplyMore<A> = NOTHING_MORE,
  ) {}
}

interface ReplyMore<A> {
  /** Default: that of the row. */
  status?: number;
  headers?: Record<string, string>;
  /** What the audit records, for rows with `audit`; never secrets or data of jobs. Null if the call has changed nothing. */
  act?: Act | null;
  /** Wait without a Redis slot and return the body to send instead. Must not retain the input of the call. */
  wait?: () => Promise<A>;
}

const NOTHING_MORE = {};

/** What the audit records of a call, in addition to the fields of every act. */
export interface Act {
  /** Default: the space of the path, of the caller's key, or of the job. */
  spaceId?: string | null;
  /** Default: the job in the path. */
  jobId?: string;
  details?: JsonObject;
}

/** Examples for the OpenAPI document, by summary. */
export type Examples = Record<string, unknown>;
