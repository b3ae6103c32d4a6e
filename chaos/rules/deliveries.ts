import type { Call } from '../checker/history.js';
import { type Delivery, deliveriesOf, deliveryOf } from './attempts.js';
import { affects, type Evidence, type Outage, type Rule, type StoredCase, storedCases } from './rule.js';

const UNDER_WAY_MS = 2_000; // Redis may run a command up to this time after its API gave up, or after the end of the outage.

/** A poll or claim whose reply may have been lost. */
interface LostClaim {
  jobId: string | null;
  spaceId: string | null;
  from: number;
  until: number;
  room: number; // Maximum number of further jobs delivered to it.
}

/** Jobs are delivered only to clients that asked (P3): a delivery that no client received must match a lost response. */
export const deliveries: Rule = {
  name: 'deliveries',
  promise: 'P3',
  check(evidence) {
    const lost = lostClaims(evidence);
    const all = storedCases(evidence).flatMap((one) => deliveriesNobodyGot(one).map((at) => ({ one, at })));
    const unexplained = all.sort((a, b) => a.at - b.at).filter(({ one, at }) => !take(one, at, lost));
    return unexplained.map(({ one, at }) => {
      const says = `it was delivered at ${new Date(at).toISOString()}, no client got it, and no response was lost then`;
      const isSlow = lost.some((claim) => mayBe(claim, one) && at >= claim.from && at <= claim.until + UNDER_WAY_MS);
      return {
        jobId: one.jobId,
        damage: 'lost',
        says,
        ...(isSlow && { during: { from: at - 2 * UNDER_WAY_MS, until: at } }),
      };
    });
  },
};

/** List the times of deliveries that no client got. */
export function deliveriesNobodyGot({ job, claims: all }: StoredCase): number[] {
  const left = deliveriesOf(job);
  for (const { call, job: claimed } of all) {
    const isDuring = ({ at }: Delivery) => at >= call.sentAt - 1 && at <= call.endedAt + 1;
    const its = left.findIndex((one) => one.token === deliveryOf(claimed.deliveryToken) && isDuring(one));
    const got = its < 0 ? left.findIndex(isDuring) : its; // A job of the examples has no token.
    if (got >= 0) left.splice(got, 1); // The rule `claims` finds a delivery that two clients got.
  }
  return left.map(({ at }) => at);
}

/** List polls and claims that may have lost a reply, ordered by when they must have been executed. */
const lostClaims = ({ calls, outages }: Evidence): LostClaim[] =>
  calls
    .filter(({ op }) => op === 'poll' || op === 'claim')
    .filter((call) => call.outcome === 'unknown' || hasWaitedIn(call, outages))
    .map((call) => ({
      jobId: call.jobId,
      spaceId: call.spaceId,
      from: call.sentAt - 1,
      until: executedBy(call, outages),
      room: (call.op === 'poll' ? (call.sent?.count ?? 1) : 1) * (call.outcome === 'ok' ? 2 : 1), // A long poll has time for two losses.
    }))
    .sort((a, b) => a.until - b.until);

/** Check whether a poll may have kept waiting after a lost reply. With autoAck it fails, because its jobs have no delivery window. */
const hasWaitedIn = ({ outcome, sent, api, sentAt, endedAt }: Call, outages: readonly Outage[]) =>
  outcome === 'ok' &&
  sent?.waitSeconds > 0 &&
  sent.autoAck !== true &&
  outages
    .filter((one) => one.stops.includes('redis') && affects(one, api))
    .some(({ from, until }) => sentAt <= until + UNDER_WAY_MS && endedAt >= from);

/** Return the time after which a call can no longer be executed. Commands may wait in a paused Redis. */
function executedBy({ sentAt, endedAt }: Call, outages: readonly Outage[]): number {
  const still = outages.filter(({ stops, affected }) => stops.includes('redis') && affected.length === 0);
  const overlapping = still.filter(({ from, until }) => sentAt <= until && endedAt >= from);
  return UNDER_WAY_MS + Math.max(endedAt, ...overlapping.map(({ until }) => until));
}

/** Check whether a lost response can have contained a job. */
const mayBe = ({ room, jobId, spaceId }: LostClaim, one: StoredCase) =>
  room > 0 && (jobId === one.jobId || spaceId === one.job.spaceId);

/** Match a delivery with a lost response, preferably a claim, because a poll may have got other jobs. */
function take(one: StoredCase, at: number, lost: LostClaim[]): boolean {
  const open = lost.filter((claim) => mayBe(claim, one) && at >= claim.from && at <= claim.until);
  const claim = open.find(({ jobId }) => jobId === one.jobId) ?? open[0];
  if (claim !== undefined) claim.room--;
  return claim !== undefined;
}
