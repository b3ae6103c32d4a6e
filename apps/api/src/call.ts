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

/** Size limits, which operators may change. */
export interface SizeLimits {
  /** Whole body, on the wire and inflated. */
  bodyBytes: number;
  /** Body that is a list of jobs, on the wire and inflated. */
  batchBytes: number;
  /** `payload` and `result`, as JSON text. */
  payloadBytes: number;
  /** Progress, checkpoint, event and error, as JSON text. */
  eventBytes: number;
  /** A batch of logs, on the wire. */
  logWireBytes: number;
  /** A batch of logs, inflated. */
  logBatchBytes: number;
  /** One log entry, as JSON text. */
  logEntryBytes: number;
  /** Entries of a batch. */
  logEntries: number;
}

/** What all calls of a process share. */
export interface Dependencies extends KeyCheck {
  store: Store;
  log: Logger;
  /** Return the master secrets of the callback secrets of all spaces, newest first; none when callbacks are not signed. */
  callbackMasters(): readonly Buffer[];
  /** Whether the mode is COMPAT=emit. */
  isEmit: boolean;
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  batchBudget: InflateBudget;
  /** Return the address of a request's client. */
  addressOf(req: Request): string;
  audit: Audit;
  /** How long Redis may take over one request, milliseconds. */
  budgetMs: number;
  redisQueue: RedisQueue;
  /** Places of requests whose body has not arrived, and of requests that are served. */
  places: { arriving: Places; inFlight: Places };
  keyLimiter: KeyLimiter;
  waiting: LongPolling;
}

/** What a path names. */
export interface Params {
  /** Space in the path; '' where the path has none. */
  spaceId: string;
  /** Job, API key or operation in the path; '' where the path has none. */
  id: string;
}

/** One request after its checks: key, scope, path and input are valid. */
export interface Call<B = unknown> extends Params {
  deps: Dependencies;
  store: Store;
  req: Request;
  res: Response;
  caller: Principal;
  /** Tenant whose share of the service the call uses, see tenantOf. */
  tenant: string;
  place: Place;
  /** Bytes of the body, inflated. */
  bytes: number;
  /** Output of the row's `input`. */
  input: B;
  /** Value of the row's request header; null without it. */
  header: string | null;
}

/** The body of a response, and what is special about the response. */
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
  /** What the audit records, for a row with `audit`. Nothing secret, and no data of jobs. Null when the call has changed nothing. */
  act?: Act | null;
  /** Waits without a slot at Redis, and returns the body to send instead. It must not keep the input of the call. */
  wait?: () => Promise<A>;
}

const NOTHING_MORE = {};

/** What the audit records of a call, besides what every call has. */
export interface Act {
  /** Default: the space of the path, of the caller's key, or of the job. */
  spaceId?: string | null;
  /** Default: the job in the path. */
  jobId?: string;
  details?: JsonObject;
}

/** Examples for the OpenAPI document: each value under a sentence that describes it. */
export type Examples = Record<string, unknown>;
