import { ROUTES, type Route } from '@yardmaster/api';
import fc from 'fast-check';
import { type Body, bodiesFor } from './bodies.js';
import { type Framing, framed, oddFraming, USUAL } from './framings.js';
import { ADMIN, anyKey, type KeyLines } from './keys.js';
import { readsBody } from './schema-values.js';
import { anyQuery, oddTarget, type Query, type Target, usualTarget } from './targets.js';
import { PLACES, type Place, refusalIn } from './twins.js';

/** One request; ids of jobs and texts of keys are filled in when it is sent. */
export interface FuzzRequest {
  /** Which of its parts are unusual. */
  oddity: string;
  route: Route;
  method: string;
  target: Target;
  query: Query;
  key: KeyLines;
  place: Place;
  body: Body | null;
  framing: Framing;
}

const METHODS = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'GET', 'POST', 'TRACE', 'PROPFIND'];

/** Return the name of an endpoint: `POST /api/v1/jobs/:jobId/ack`. */
export const nameOf = ({ method, path }: Route) => `${method} ${path}`;

function requestTo(route: Route): fc.Arbitrary<FuzzRequest> {
  const { valid, ...bodies } = bodiesFor(route);
  const hasBody = readsBody(route);
  const odd: [oddity: string, weight: number, draw: fc.Arbitrary<Partial<FuzzRequest>>][] = [
    ['json', hasBody ? 40 : 4, fc.record({ body: bodies.json })],
    ['text', hasBody ? 10 : 2, fc.record({ body: bodies.text })],
    ['gzip', hasBody ? 8 : 2, fc.record({ body: bodies.gzip })],
    ['query', route.query ? 60 : 2, fc.record({ query: anyQuery(route) })],
    ['path', 8, fc.record({ target: oddTarget(route) })],
    ['key', 6, fc.record({ key: anyKey })],
    ['framing', 8, fc.record({ framing: oddFraming })],
    ['method', 3, fc.record({ method: fc.constantFrom(...METHODS) })],
  ];
  const oddity = fc.oneof(
    ...odd.map(([name, weight, draw]) => ({ weight, arbitrary: fc.tuple(fc.constant(name), draw) })),
  );
  // A request with two unusual parts is refused for the first one, in the order of the checks.
  const one = { weight: 8, arbitrary: fc.tuple(oddity) };
  const oddities = fc.oneof({ withCrossShrink: true }, fc.constant([]), one, fc.tuple(oddity, oddity));
  // Prefer statuses in which the verb is accepted.
  const fitting = PLACES.filter((place) => refusalIn(place, route) === null);
  const place = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...fitting) }, fc.constantFrom(...PLACES));
  const usual = { route, method: route.method, target: usualTarget(route), query: { text: '', pairs: [] }, key: ADMIN };
  return fc.tuple(place, valid, oddities).map(([at, body, some]) => {
    const request = { ...usual, place: at, body, framing: USUAL, oddity: some.map(([name]) => name).join(', ') };
    return Object.assign(request, ...some.map(([, changes]) => changes));
  });
}

/** Draw a request; endpoints that read more are drawn more often. */
const anyRequest = fc.oneof(
  ...ROUTES.map((route) => ({ weight: readsBody(route) ? 8 : route.query ? 5 : 3, arbitrary: requestTo(route) })),
);

/** Return whether another request may follow on the same connection. */
const isSimple = ({ framing: { is, lines }, body, target }: FuzzRequest) =>
  is === 'whole' && !/Conn/.test(lines) && (body?.wire.length ?? 0) < 50_000 && target.is !== 'unclear';

/** Draw one request, or sometimes several that are sent together on one connection. */
export const anyRequests: fc.Arbitrary<FuzzRequest[]> = fc.oneof(
  { withCrossShrink: true },
  { weight: 15, arbitrary: fc.tuple(anyRequest) },
  { weight: 1, arbitrary: fc.array(anyRequest.filter(isSimple), { minLength: 2, maxLength: 5 }) },
);

/**
 * Write a request as bytes.
 *
 * @param names values of the placeholders `{job}`, `{admin}` and so on
 */
export function bytesOf({ framing, query, body, ...request }: FuzzRequest, names: Record<string, string>): Buffer {
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (as, each: string) => names[each] ?? as);
  const wire = body?.wire ?? Buffer.alloc(0);
  const target = fill(request.target.text) + (query.text === '' ? '' : `?${query.text}`);
  const type = body ? [['content-type', `application/${body.isLines ? 'x-ndjson' : 'json'}`]] : [];
  const coding = body?.coding ? [['content-encoding', body.coding]] : [];
  const lines = [
    framing.first.replace('{method}', () => request.method).replace('{target}', () => target),
    ...[['Host', '127.0.0.1'], ...request.key, ...type, ...coding].map((header) => fill(header.join(': '))),
    framing.lines.replaceAll('{n}', `${wire.length}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), framed(wire, framing)]);
}
