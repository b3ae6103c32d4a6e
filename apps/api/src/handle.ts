import { authenticate, authorize, knownCaller, REDIS_BUDGET_MS, within } from '@yardmaster/backend';
import { spaceId as spaceIdSchema, validate } from '@yardmaster/protocol';
import type { KeyRing, Store } from '@yardmaster/store';
import type { Request } from 'express';
import { readJson } from './body.js';
import type { Incoming } from './logs/incoming.js';
import type { BodyBounds, Route } from './route.js';
import { checkSize, type SizeLimits } from './sizes.js';

/** Values of the parameters of a path. */
export interface Params {
  spaceId?: string;
  jobId?: string;
  keyId?: string;
}

/** What the endpoints work with: all of it shared by every request. */
export interface Surroundings {
  store: Store;
  keyRing: KeyRing;
  sizes: SizeLimits;
  incoming: Incoming;
}

/** Whether a request brings anything that is read; one that does not is spared the waiting. */
const takesInput = ({ body, query, read }: Route) => body !== undefined || query !== undefined || read !== undefined;

async function inputOf(route: Route, req: Request, bounds: BodyBounds): Promise<unknown> {
  if (route.query) return validate(route.query, req.query, 'query');
  if (route.read) return route.read(req, bounds);
  if (route.body === undefined) return undefined; // As takesInput says.
  const { sizes } = bounds;
  const { value, bytes } = await readJson(req, sizes.bodyBytes);
  const input = validate(route.body, value === undefined ? (route.absentBody === null ? null : {}) : value);
  for (const { path, limit } of route.measured ?? []) {
    const part = path === null ? input : (input as Record<string, unknown>)[path];
    checkSize(path ?? 'body', part, sizes[limit], bytes);
  }
  return input;
}

/**
 * Serve one request for one endpoint. The order of the checks is the contract's: path, key, scope, body, job.
 *
 * @returns the body of the answer
 * @throws every refusal there is
 */
export async function handle(
  route: Route,
  { spaceId, jobId = '', keyId = '' }: Params,
  req: Request,
  around: Surroundings,
): Promise<unknown> {
  const { store, keyRing } = around;
  if (spaceId !== undefined) validate(spaceIdSchema, spaceId, 'spaceId');

  const presented = req.headers['x-api-key'];
  let left = REDIS_BUDGET_MS;
  let caller = knownCaller(keyRing, presented);
  if (caller === undefined) {
    const began = performance.now();
    caller = await within(REDIS_BUDGET_MS, authenticate(keyRing, presented));
    left -= performance.now() - began;
  }
  authorize(caller, route.scopes, spaceId);

  let release: () => void = () => undefined;
  const onDone: BodyBounds['onDone'] = (then) => {
    release = then;
  };
  try {
    const input = takesInput(route) ? await inputOf(route, req, { ...around, onDone }) : undefined;
    return await within(left, route.run({ store, keyRing, caller, spaceId: spaceId ?? '', jobId, keyId, input }));
  } finally {
    // Not when the answer is closed: that of a request behind another one never is, when the client goes away.
    release();
  }
}
