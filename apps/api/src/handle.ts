import {
  checkParameters,
  findUnknownFields,
  type PolledJobs,
  spaceId as spaceIdSchema,
  type UnknownName,
  validate,
} from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { authenticate, authorize, cachedPrincipal, type KeyCheck, presentedKey, setOwner } from '@yardmaster/server';
import type { Principal, Store } from '@yardmaster/store';
import type { Request, Response } from 'express';
import { beginAct, recordAct } from './audit/record-act.js';
import { readJson } from './body/body.js';
import { readOneOrItems, runList } from './body/list.js';
import { checkOutcomes, readOutcomes } from './body/outcomes.js';
import { checkSizes, type SizeLimits } from './body/sizes.js';
import type { InflateBudget } from './limits/inflate-budget.js';
import type { KeyLimiter } from './limits/key-limiter.js';
import { withReadSlots } from './limits/read-slots.js';
import type { RedisQueue } from './limits/redis-queue.js';
import { requestHeader } from './request-header.js';
import { mayLackToken, requireToken } from './required-token.js';
import { streamUrlFor } from './routes/emit.js';
import { ANY_KEY, type BodyBounds, type Call, type ResponseHead, type Route } from './routes/route.js';
import { reportUnknownFields } from './unknown-fields.js';
import { callWaits, releaseIfGone, waitAfter, waitsInBody, waitsInQuery } from './waiting/request.js';
import type { Waiting } from './waiting/waiting.js';

/** Values of the parameters of a path. */
export interface Params {
  spaceId?: string;
  jobId?: string;
  keyId?: string;
  operationId?: string;
}

/** A request, and the response to it, which `handle` does not end. */
interface Exchange {
  req: Request;
  res: Response;
}

/** What a request is responded with: the status and headers only if they differ from the row's. */
export interface Responded {
  body: unknown;
  head: ResponseHead | undefined;
}

/** Dependencies of all endpoints; every request shares them. */
export interface RouteDependencies extends KeyCheck {
  store: Store;
  log: Logger;
  callbackMasters: readonly Buffer[];
  /** Whether the mode is COMPAT=emit. */
  isEmit: boolean;
  sizes: SizeLimits;
  inflateBudget: InflateBudget;
  batchBudget: InflateBudget;
  /** Return the address of a request's client. */
  addressOf(req: Request): string;
  /** How long Redis may take over one request, milliseconds. */
  budgetMs: number;
  redisQueue: RedisQueue;
  keyLimiter: KeyLimiter;
  waiting: Waiting;
}

/**
 * Serve one request for one endpoint. The contract sets the order of the checks: path, key, scope, body, job. The limits of
 * the key come before its scopes, so that a refused call costs nothing more.
 *
 * @throws YardmasterError; any other error is a bug
 */
export async function handle(
  route: Route,
  { spaceId, jobId = '', keyId = '', operationId = '' }: Params,
  { req, res }: Exchange,
  deps: RouteDependencies,
): Promise<Responded> {
  const { store, authenticator, callbackMasters } = deps;
  if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');

  const apiKey = presentedKey(req);
  let leftMs = deps.budgetMs;
  let caller = cachedPrincipal(authenticator, apiKey);
  if (caller === undefined) {
    const began = performance.now();
    caller = await identify(route, apiKey, req, deps);
    leftMs -= performance.now() - began;
  }
  setOwner(req.socket, caller.keyId, route.isUrgent === true);
  deps.keyLimiter.take(caller, res);
  if (route.scopes !== ANY_KEY) authorize(caller, route.scopes, spaceId, route.alsoScope);

  // The input is set later, because a copy by `...` is made property by property.
  const call: Call = {
    store,
    authenticator,
    callbackMasters,
    caller,
    spaceId: spaceId ?? '',
    jobId,
    keyId,
    operationId,
    input: undefined,
    header: route.header === undefined ? null : requestHeader(req, route.header),
    waits: null,
    isMore: false,
    streamUrlOf: deps.isEmit ? (id) => streamUrlFor(req.headers, id) : null,
  };
  // Express would parse the URL of every request.
  if (req.url.includes('?')) {
    readQuery(route, call, { req, res, deps });
  }
  // A request without input, such as every ack, does not have to wait for it.
  const readBody = readerOf(route, call);
  if (readBody === undefined && (route.body !== undefined || route.query !== undefined)) {
    call.input = await inputOf(route, { req, res }, deps);
  }
  if (route.waitSecondsIn === 'body') call.waits = waitsInBody(call.input, { req, res, deps, caller });
  const response: Responded = {
    body: await (readBody
      ? serveReader(route, readBody, { req, res, deps, call, leftMs })
      : runHandler(route, call, leftMs, deps)),
    head: call.head,
  };
  const rest = finish(route, call, response, { req, res, deps });
  if (rest !== null) await rest;
  return response;
}

/** Read the parameters of the query, except those of a row without a body. @throws INVALID_REQUEST, FORBIDDEN */
function readQuery(route: Route, call: Call, { req, res, deps }: Exchange & { deps: RouteDependencies }): void {
  checkParameters(Object.keys(req.query), route.parameters);
  if (route.options !== undefined) call.options = validate(route.options, req.query, 'query');
  if (route.waitSecondsIn === 'query') call.waits = waitsInQuery({ req, res, deps, caller: call.caller });
}

/** Do what comes after the handler; null when nothing has to be awaited. No row both waits and is an act. */
function finish(
  route: Route,
  call: Call,
  response: Responded,
  { req, res, deps }: Exchange & { deps: RouteDependencies },
): Promise<void> | null {
  if (route.audit !== undefined) return recordAct(route, call, { req, res }, deps);
  if (call.isMore) call.waits ??= callWaits(0, { req, res, deps, caller: call.caller });
  if (call.waits !== null) return waitAfter(route, call, response);
  if (route.waitSecondsIn === 'body') {
    releaseIfGone(response.body as PolledJobs, { req, res, deps, caller: call.caller });
  }
  return null;
}

/** Find out who calls, with a slot at Redis. @throws UNAUTHENTICATED, UNAVAILABLE, OVERLOADED */
function identify(route: Route, apiKey: unknown, req: Request, deps: RouteDependencies): Promise<Principal> {
  return deps.redisQueue.withSlot({
    isUrgent: route.isUrgent === true,
    // The owner of the key is not known yet. A client that sends wrong keys waits with others of its address.
    owner: deps.addressOf(req),
    withinMs: deps.budgetMs,
    run: () => authenticate(deps, req, apiKey),
  });
}

/** Return the reader of a body that is more than one small JSON value; undefined for any other body. */
function readerOf(route: Route, call: Call): Route['readBody'] {
  if (route.list !== undefined) return readOneOrItems(route, call);
  return route.settlesIn === 'outcomes' ? readOutcomes(route) : route.readBody;
}

/** Read the input of a request: its query, or its body as JSON. */
async function inputOf(route: Route, { req, res }: Exchange, deps: RouteDependencies): Promise<unknown> {
  if (route.query) return validate(route.query, req.query, 'query');
  if (route.body === undefined) return undefined;
  const { value = route.absentBody === null ? null : {}, bytes } = await readJson(req, deps.sizes.bodyBytes);
  const unknown: UnknownName[] = [];
  findUnknownFields(route.fields, value, unknown);
  reportUnknownFields(req, res, unknown, route.isStrict);
  const input = validate(route.body, value);
  checkSizes(route.sizeRules, { input, bytes }, deps.sizes);
  if (route.settlesIn !== undefined) checkOutcomes(route.settlesIn, { input, bytes }, deps.sizes);
  return input;
}

function runHandler(route: Route, call: Call, withinMs: number, { redisQueue }: RouteDependencies): Promise<unknown> {
  if (route.isLocal === true) return route.handler(call);
  if (route.list !== undefined && Array.isArray(call.input)) return runList(route.list, call, withinMs, redisQueue);
  return redisQueue.withSlot({
    isUrgent: route.isUrgent === true || route.isUrgentWith?.(call.input) === true,
    owner: call.caller.keyId,
    withinMs,
    run: (slot) => {
      if (route.isLong === true) call.store = withReadSlots(call.store, slot);
      if (route.audit !== undefined) beginAct(call);
      if (mayLackToken(route, call)) return requireToken(call).then(() => route.handler(call));
      return route.handler(call);
    },
  });
}

/** Serve a request whose row reads its body itself, and may reserve budget for the body until the request is done. */
async function serveReader(
  route: Route,
  readBody: NonNullable<Route['readBody']>,
  { req, res, deps, call, leftMs }: Exchange & { deps: RouteDependencies; call: Call; leftMs: number },
): Promise<unknown> {
  let release: () => void = () => undefined;
  let isDone = false;
  const onDone: BodyBounds['onDone'] = (then) => {
    // A client may disconnect while its body waits for a budget.
    if (isDone) then();
    else release = then;
  };
  try {
    const unknown: UnknownName[] = [];
    const { sizes, inflateBudget, batchBudget } = deps;
    try {
      call.input = await readBody(req, { sizes, inflateBudget, batchBudget, onDone, unknown });
    } finally {
      reportUnknownFields(req, res, unknown);
    }
    return await runHandler(route, call, leftMs, deps);
  } finally {
    // Release here, not when the response closes: a response behind another one never closes after a disconnect.
    isDone = true;
    release();
  }
}
