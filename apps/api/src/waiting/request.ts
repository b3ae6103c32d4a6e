import type { IncomingMessage } from 'node:http';
import { type PolledJobs, type PollRequest, validate, waitQuery } from '@yardmaster/protocol';
import { authenticate, authorize, cachedPrincipal, presentedKey } from '@yardmaster/server';
import type { Principal } from '@yardmaster/store';
import type { Request, Response } from 'express';
import type { Responded, RouteDependencies } from '../handle.js';
import { withReadSlots } from '../limits/read-slots.js';
import type { Call, Route } from '../routes/route.js';
import { CallWaits } from './call-waits.js';

/** A request whose key is checked. */
interface CheckedRequest {
  req: Request;
  res: Response;
  deps: RouteDependencies;
  caller: Principal;
}

/**
 * Return what a call may wait for by the query of its request; null when it does not wait.
 *
 * @throws INVALID_REQUEST; FORBIDDEN without the scope jobs:read, because the response shows what became of a job
 */
export function waitsInQuery(request: CheckedRequest): CallWaits | null {
  const { waitSeconds } = validate(waitQuery, request.req.query, 'query');
  if (waitSeconds > 0) authorize(request.caller, ['jobs:read']);
  return waitsOf(waitSeconds, request);
}

/**
 * Return what a poll may wait for by its body; null when it does not wait, and its jobs need no care. They need it when a
 * claim that the worker never gets would cost more than the delivery window of the service.
 */
export function waitsInBody(input: unknown, request: CheckedRequest): CallWaits | null {
  const { waitSeconds, autoAck, ackWithinSeconds, settle } = input as PollRequest;
  const isPlain = !autoAck && ackWithinSeconds === null && settle === undefined;
  // A plain poll does not listen to its connection, which would cost more. It only checks it at the end.
  return waitSeconds === 0 && isPlain ? null : callWaits(waitSeconds, request);
}

/** Release the jobs of a poll that does not wait and whose connection is closed already. */
export function releaseIfGone({ jobs }: PolledJobs, request: CheckedRequest): void {
  if (request.req.socket.destroyed) callWaits(0, request).releaseUnlessSent(jobs);
}

const waitsOf = (seconds: number, request: CheckedRequest) => (seconds === 0 ? null : callWaits(seconds, request));

/** Return what a call may wait for; with 0 seconds it only makes further calls to Redis. */
export function callWaits(seconds: number, { req, res, deps, caller }: CheckedRequest): CallWaits {
  const { store, redisQueue, waiting, budgetMs: withinMs } = deps;
  const owner = caller.keyId;
  return new CallWaits({
    ...{ waiting, res, seconds, caller },
    atRedis: (work) =>
      redisQueue.withSlot({
        ...{ isUrgent: false, owner, withinMs },
        async run(slot) {
          await checkKeyAgain(req, deps);
          return work(withReadSlots(store, slot));
        },
      }),
    atRedisFirst: (work) => redisQueue.withSlot({ isUrgent: true, owner, withinMs, run: () => work(store) }),
  });
}

/** Refuse a call whose key has been revoked, or has expired, since it began to wait. @throws UNAUTHENTICATED */
async function checkKeyAgain(req: IncomingMessage, deps: RouteDependencies): Promise<void> {
  const apiKey = presentedKey(req);
  if (cachedPrincipal(deps.authenticator, apiKey) === undefined) await authenticate(deps, req, apiKey);
}

/** Let a call wait after its handler, and replace its response when it has waited. */
export async function waitAfter(route: Route, call: Call, response: Responded): Promise<void> {
  const waited = route.wait?.(call, response.body, call.waits as CallWaits) ?? null;
  if (waited === null) return;
  call.input = response.body = undefined; // Thousands of calls may wait, and each of these may be large.
  response.body = await waited;
}
