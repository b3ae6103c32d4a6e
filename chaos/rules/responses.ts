import type { Call } from '../checker/history.js';
import { before } from '../checker/stalls.js';
import { affects, type Finding, type Outage, type Rule, type Stopped } from './rule.js';

/** A call gets a response within 2 s, a long poll within 2 s after its wait; plus half a second for client and network. */
export const RESPONSE_MS = 2_000 + 500;
const AGAIN_MS = 2_000; // Calls are served again within this time after an outage.
const REFUSED = 409; // The job is in another status: no other refusal is correct.

/**
 * Every call gets a response in time. The response is 503 only while Redis is unavailable, full, unsafe or too slow for the load,
 * or while the API is stopped. Calls are refused only because of the state of the job (P12).
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
  const { op, outcome, status, code, sent, sentAt, endedAt, body, mayBe } = call;
  const tookMs = endedAt - sentAt;
  if (tookMs > RESPONSE_MS + (sent?.waitSeconds ?? 0) * 1_000) {
    const says = `${op} took ${tookMs} ms and returned ${status ?? 'nothing'}`;
    yield { damage: 'late', says, during: { from: sentAt, until: endedAt } };
  }
  if (outcome === 'refused' && ![REFUSED, ...mayBe].includes(status as number))
    yield { says: `${op} was refused: ${status} ${code}` };
  if (status !== null && status < 500) return;
  if (status !== null && status !== 503) yield { promise: 'P13', says: `${op} returned ${status}` };
  if (outages.some((outage) => excuses(outage, call))) return;
  const says = `${op} was not served, and nothing prevented it: ${status ?? body} ${code ?? ''}`;
  yield { says, ...(code !== 'STORAGE_FULL' && { during: before(endedAt) }) };
}

/** Unavailable parts by the code of a 503; any other code means Redis. */
const WITHOUT: Record<string, Stopped[]> = {
  OVERLOADED: ['capacity', 'redis'],
  STORAGE_FULL: ['room'],
  STORAGE_UNSAFE: ['safety'],
};

/** Check whether an outage excuses a 503 or, if it stops the API, a call without a response. */
function excuses(outage: Outage, { api, status, code, sentAt, endedAt }: Call): boolean {
  const { stops, from, until } = outage;
  if (endedAt < from || sentAt > until + AGAIN_MS) return false;
  const without = status === null ? (['api'] as const) : WITHOUT[code ?? ''];
  if (without === undefined) return code === 'UNAVAILABLE' && stops.includes('redis') && affects(outage, api);
  return without.some((one) => stops.includes(one)) && affects(outage, api);
}
