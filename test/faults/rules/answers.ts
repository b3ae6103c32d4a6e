import type { Call } from '../history.js';
import { isHit, type Outage, type Rule, type Said } from './rule.js';

/** Every call is answered within 2 s; the rest is for the clients of a busy machine. */
export const ANSWER_MS = 2_000 + 500;

/** After the end of an outage the service is there again within this. */
const AGAIN_MS = 2_000;

/** What a client of ours may be refused for: nothing but the state of its job. */
const REFUSALS = [409];

/**
 * Every call is answered in time, with 503 and nothing else while Redis is away or full, and only then, or while its API is; and is
 * refused only for what it asks (P12).
 */
export const answers: Rule = {
  name: 'answers',
  promise: 'P12',
  check: ({ calls, outages }) =>
    calls.flatMap((call) =>
      [...faultsOf(call, outages)].map((found) => ({ jobId: call.jobId, lines: [call.line], ...found })),
    ),
};

function* faultsOf(call: Call, outages: readonly Outage[]): Generator<Said> {
  const { op, outcome, status, code, sentAt, answeredAt, body, mayBe } = call;
  const tookMs = answeredAt - sentAt;
  if (tookMs > ANSWER_MS)
    yield { damage: 'late', says: `${op} took ${tookMs} ms to be answered ${status ?? 'nothing'}` };
  if (outcome === 'refused' && ![...REFUSALS, ...mayBe].includes(status as number))
    yield { damage: 'other', says: `${op} was refused: ${status} ${code}` };
  if (status !== null && status < 500) return;
  if (status !== null && status !== 503) yield { promise: 'P13', says: `${op} was answered ${status}` };
  if (!outages.some((outage) => excuses(outage, call)))
    yield { says: `${op} was not served, and nothing kept it from that: ${status ?? body} ${code ?? ''}` };
}

/** An API that is there answers 503 while Redis is away from it, or full; to say nothing at all it must be gone. */
function excuses(outage: Outage, { api, status, code, sentAt, answeredAt }: Call): boolean {
  const { stops, from, until } = outage;
  if (answeredAt < from || sentAt > until + AGAIN_MS) return false;
  if (code === 'STORAGE_FULL') return stops.includes('room');
  return (
    stops.includes(status === null ? 'api' : 'redis') &&
    (status === null || code === 'UNAVAILABLE') &&
    isHit(outage, api)
  );
}
