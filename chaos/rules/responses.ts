import type { Call } from '../checker/history.js';
import { before } from '../checker/stalls.js';
import { affects, type Finding, type Outage, type Rule, type Stopped } from './rule.js';

/** A call is answered within 2 s; half a second more for the client and the network. */
export const RESPONSE_MS = 2_000 + 500;
const AGAIN_MS = 2_000; // After the end of an outage calls are served again within this.
const REFUSED = 409; // A client may be refused for the state of its job, and for nothing else.

/**
 * Every call is answered in time, with 503 only while Redis is unavailable, full, unsafe or too slow for the load, or its API is stopped, and it is refused only
 * for what it asks (P12).
 */
export const responses: Rule = {
  name: 'responses',
  promise: 'P12',
  check: ({ calls, outages }) =>
    calls.flatMap((call) =>
      [...faultsOf(call, outages)].map((found) => ({ jobId: call.jobId, lines: [call.line], ...found })),
    ),
};

function* faultsOf(call: Call, outages: readonly Outage[]): Generator<Finding> {
  const { op, outcome, status, code, sentAt, answeredAt, body, mayBe } = call;
  const tookMs = answeredAt - sentAt;
  if (tookMs > RESPONSE_MS) {
    const says = `${op} took ${tookMs} ms to be answered ${status ?? 'nothing'}`;
    yield { damage: 'late', says, during: { from: sentAt, until: answeredAt } };
  }
  if (outcome === 'refused' && ![REFUSED, ...mayBe].includes(status as number))
    yield { says: `${op} was refused: ${status} ${code}` };
  if (status !== null && status < 500) return;
  if (status !== null && status !== 503) yield { promise: 'P13', says: `${op} was answered ${status}` };
  if (outages.some((outage) => excuses(outage, call))) return;
  const says = `${op} was not served, and nothing prevented it: ${status ?? body} ${code ?? ''}`;
  yield { says, ...(code !== 'STORAGE_FULL' && { during: before(answeredAt) }) };
}

/** What was not available when a call is answered 503 with this code; with any other it is Redis. */
const WITHOUT: Record<string, Stopped[]> = {
  OVERLOADED: ['capacity', 'redis'],
  STORAGE_FULL: ['room'],
  STORAGE_UNSAFE: ['safety'],
};

/** An API answers 503 while it cannot reach Redis, or Redis is full, slow or unsafe; only a stopped API answers nothing. */
function excuses(outage: Outage, { api, status, code, sentAt, answeredAt }: Call): boolean {
  const { stops, from, until } = outage;
  if (answeredAt < from || sentAt > until + AGAIN_MS) return false;
  const without = status === null ? (['api'] as const) : WITHOUT[code ?? ''];
  if (without === undefined) return code === 'UNAVAILABLE' && stops.includes('redis') && affects(outage, api);
  return without.some((one) => stops.includes(one)) && affects(outage, api);
}
