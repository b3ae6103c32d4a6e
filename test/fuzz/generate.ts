import { ROUTES, type Route } from '@yardmaster/api';
import { randomOf } from '../logs/random.js';
import { usualFraming } from './framings.js';
import { written } from './json-text.js';
import { ADMIN, CALLS_SPACE } from './keys.js';
import { bodyOf, ODDITIES, oddityFor, validBody } from './oddities.js';
import { type FuzzRequest, PLACES, type Place } from './request.js';
import { nameOf, readsBody } from './route-names.js';
import { fieldsOf } from './schema-fields.js';
import { plain } from './targets.js';

/** Where its job is most likely to be, so that what is right is done. */
const USUAL_PLACE: Record<string, Place> = {
  claim: 'pending',
  ack: 'delivered',
  progress: 'running',
  checkpoint: 'running',
  event: 'running',
  keepalive: 'running',
  complete: 'running',
  fail: 'running',
  redeliver: 'called',
};

/** How often an endpoint comes up, against the others: more often when there is more to it. */
const weightOf = (route: Route) =>
  (readsBody(route) ? 3 : 2) + fieldsOf(route.body).length + fieldsOf(route.query).length;

const DRAWN = ROUTES.flatMap((route) => Array<Route>(weightOf(route)).fill(route));

/** Make one request of a run: the same for the same seed and number, whatever came before. */
export function generate(seed: number, index: number): FuzzRequest {
  const random = randomOf(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const route = random.of(DRAWN);
  const name = nameOf(route);
  const valid = readsBody(route) ? validBody(random, name) : undefined;
  const body = valid === undefined ? null : bodyOf(random, name, written(valid));
  const usual = random.chance(0.85) ? USUAL_PLACE[route.path.split('/').at(-1) as string] : undefined;
  const request: FuzzRequest = {
    oddity: 'none',
    route,
    name,
    method: route.method,
    target: { text: plain(route.path, CALLS_SPACE), is: 'row' },
    query: { text: '', pairs: [] },
    key: ADMIN,
    place: usual ?? random.of(PLACES),
    body,
    requestId: [],
    framing: usualFraming(random, body?.wire ?? Buffer.alloc(0)),
    pieces: 1,
  };
  // Two oddities at once are refused for the first one, by the order of the checks.
  for (let times = random.chance(0.9) ? 1 : 2; times > 0; times--) {
    const oddity = oddityFor(random, route);
    Object.assign(request, ODDITIES[oddity]?.(random, request));
    request.oddity = request.oddity === 'none' ? oddity : `${request.oddity}, ${oddity}`;
  }
  return request;
}
