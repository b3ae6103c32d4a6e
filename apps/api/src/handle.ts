import { checkParameters, scheduleId, spaceId as spaceIdSchema, validate } from '@yardmaster/protocol';
import {
  authenticate,
  authorize,
  cachedPrincipal,
  type Denied,
  presentedKey,
  requestIdOfResponse,
  setTenant,
} from '@yardmaster/server';
import { type Principal, tenantOf } from '@yardmaster/store';
import type { Response } from 'express';
import { beginAct, recordAct } from './audit.js';
import { type Call, type Dependencies, type Params, Reply } from './call.js';
import { hasNoBody } from './input/body.js';
import { Held, type Input, requestHeader } from './input/input.js';
import type { Place } from './limits/places.js';
import { tenantAt, withReadSlots } from './limits/redis-queue.js';
import { PER_BYTE } from './limits/units.js';
import { ANY_KEY, type Route } from './routes/route.js';

/**
 * Serve a request for an endpoint. The contract sets the order of the checks: path, key, scope, body, job. The limits of
 * the key are checked before its scopes, so that a rate-limited call costs nothing more.
 *
 * @param at.place where the request is counted while it is served
 * @throws YardmasterError; any other error is a bug
 */
export async function handle(
  route: Route,
  params: Params,
  at: { res: Response; place: Place },
  deps: Dependencies,
): Promise<Reply<unknown>> {
  const access: Denied = {};
  try {
    return await serve(route, params, { ...at, access }, deps);
  } catch (error) {
    const { res } = at;
    deps.audit.denied(error, access, { req: res.req, requestId: requestIdOfResponse(res) });
    throw error;
  }
}

/** @param at.access receives the caller as soon as it is known */
async function serve(
  route: Route,
  { spaceId, id }: Params,
  { res, place, access }: { res: Response; place: Place; access: Denied },
  deps: Dependencies,
): Promise<Reply<unknown>> {
  const { req } = res;
  if (route.path.startsWith(IN_SPACE)) checkPath(spaceId, id);

  const apiKey = presentedKey(req);
  access.presented = apiKey;
  let leftMs = deps.budgetMs;
  let caller = cachedPrincipal(deps.authenticator, apiKey);
  if (caller === undefined) {
    const began = performance.now();
    caller = await identify(route, apiKey, { res, place }, deps);
    leftMs -= performance.now() - began;
  }
  access.caller = caller;
  const tenant = tenantOf(caller, spaceId);
  setTenant(req.socket, tenant, route.slot === 'urgent');
  // Checked again once the body has arrived, but refusing now saves reading it.
  deps.places.inFlight.check(tenant, mayBeUrgent(route));
  deps.keyLimiter.take(caller, res);
  if (route.scopes !== ANY_KEY) authorize(caller, route.scopes, spaceId);

  // An act takes effect before a replica confirms it, so record it before waiting for the confirmation.
  const unconfirmed = route.audit === undefined || deps.store.replicated === null ? null : [];
  const store = unconfirmed === null ? deps.store : { ...deps.store, unconfirmed };
  const header = route.header === undefined ? null : requestHeader(req, route.header);
  const call: Call = { deps, store, req, res, caller, tenant, place, spaceId, id, header, bytes: 0, input: undefined };
  // Express would parse the URL of every request.
  if (req.url.includes('?')) checkParameters(Object.keys(req.query), route.input?.parameters ?? []);
  const returned = await (route.input === undefined
    ? run(route, call, leftMs)
    : readAndRun(route.input, route, call, leftMs));
  const reply = returned instanceof Reply ? returned : new Reply(returned);
  const { act } = reply.more;
  if (route.audit !== undefined && act !== null) await recordAct(route.audit, call, act);
  if (unconfirmed !== null) await Promise.all(unconfirmed);
  if (reply.more.wait === undefined) return reply;
  call.input = undefined; // Thousands of calls may be waiting, each with a large input.
  return new Reply(await reply.more.wait(), reply.more);
}

const IN_SPACE = '/api/v1/spaces/:';

/** Check the IDs in the path of a space. @throws INVALID_REQUEST */
function checkPath(spaceId: string, id: string): void {
  validate(spaceIdSchema, spaceId, 'spaceId');
  if (id !== '') validate(scheduleId, id, 'scheduleId');
}

/** Return whether a call may be urgent, before its body is known: a poll may have outcomes. */
const mayBeUrgent = ({ slot, trigger }: Route) => slot === 'urgent' || trigger === 'poll';

/** Authenticate the caller in a Redis slot. @throws UNAUTHENTICATED, UNAVAILABLE, OVERLOADED */
function identify(
  route: Route,
  apiKey: unknown,
  { res: { req }, place }: { res: Response; place: Place },
  deps: Dependencies,
): Promise<Principal> {
  // The tenant is not known yet. Clients with wrong keys share one tenant per address.
  const tenant = tenantAt(deps.addressOf(req));
  const isUrgent = mayBeUrgent(route);
  place.moveTo(deps.places.inFlight, tenant, isUrgent);
  const run = () => authenticate(deps, apiKey);
  return deps.redisQueue.withSlot({ isUrgent, tenant, withinMs: deps.budgetMs, run });
}

async function readAndRun(input: Input<unknown>, route: Route, call: Call, withinMs: number): Promise<unknown> {
  const held = new Held();
  try {
    // A request takes a place only once its body has arrived; otherwise slow clients would take all places.
    if (input.body !== null && !hasNoBody(call.req))
      call.place.moveTo(call.deps.places.arriving, call.tenant, mayBeUrgent(route));
    call.input = await input.read(call, held);
    return await run(route, call, withinMs);
  } finally {
    // Not on the response's `close`: a response queued behind another one never closes after a disconnect.
    held.done();
  }
}

/** Run the handler, in a Redis slot if it needs one. */
function run({ slot = 'normal', units, audit, handler }: Route, call: Call, withinMs: number): Promise<unknown> {
  const { deps, tenant, place, bytes, input } = call;
  const kind = typeof slot === 'function' ? slot(input) : slot;
  const isUrgent = kind === 'urgent';
  place.moveTo(deps.places.inFlight, tenant, isUrgent);
  if (kind === 'none') return handler(call);
  return deps.redisQueue.withSlot({
    ...{ isUrgent, tenant, withinMs },
    units: 1 + (units?.before?.(input) ?? 0) + PER_BYTE * bytes,
    run(own) {
      if (kind === 'long') call.store = withReadSlots(call.store, own);
      if (audit !== undefined) beginAct(audit, call);
      return handler(call);
    },
  });
}
