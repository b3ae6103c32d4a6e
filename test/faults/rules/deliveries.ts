import type { Call } from '../history.js';
import type { Evidence, Found, Outage, Rule, StoredCase } from './rule.js';

/** A command that its API no longer waits for may be done as late as this after it, or after the outage, milliseconds. */
const UNDER_WAY_MS = 2_000;

/** A poll or claim whose answer was lost, and how many jobs may have been delivered to it. */
interface LostAnswer {
  jobId: string | null;
  spaceId: string | null;
  from: number;
  until: number;
  room: number;
}

/** A delivery that came to no client. */
interface Missing {
  jobId: string;
  spaceId: string;
  at: number;
}

/** A job is delivered to somebody who asked (P3): each delivery that came to no client is one whose answer was lost. */
export const deliveries: Rule = {
  name: 'deliveries',
  promise: 'P3',
  check(evidence) {
    const lost = lostAnswers(evidence);
    return missingOf(evidence)
      .filter((delivery) => !take(delivery, lost))
      .map(
        ({ jobId, at }): Found => ({
          jobId,
          damage: 'lost',
          says: `it was delivered at ${new Date(at).toISOString()}, which came to no client, and no answer was lost then`,
        }),
      );
  },
};

/** In the order of their times. */
function missingOf({ cases }: Evidence): Missing[] {
  return cases.flatMap((one) => (one.job === null ? [] : ofJob({ ...one, job: one.job }))).sort((a, b) => a.at - b.at);
}

function ofJob({ jobId, job, handOuts }: StoredCase): Missing[] {
  const delivered = job.events.filter(({ type }) => type === 'delivered').map(({ createdAt }) => Date.parse(createdAt));
  for (const { call } of handOuts) {
    const came = delivered.findIndex((at) => at >= call.sentAt - 1 && at <= call.answeredAt + 1);
    // One that came to two is found by another rule.
    if (came >= 0) delivered.splice(came, 1);
  }
  return delivered.map((at) => ({ jobId, spaceId: job.spaceId, at }));
}

/** Those that can be done first stand first. */
function lostAnswers({ calls, outages }: Evidence): LostAnswer[] {
  return calls
    .filter(({ op, outcome }) => outcome === 'unknown' && (op === 'poll' || op === 'claim'))
    .map((call) => ({
      jobId: call.jobId,
      spaceId: call.spaceId,
      from: call.sentAt - 1,
      until: doneBy(call, outages),
      room: call.op === 'poll' ? (call.sent?.count ?? 1) : 1,
    }))
    .sort((a, b) => a.until - b.until);
}

const standsStill = ({ stops, hit }: Outage) => stops.includes('redis') && hit.length === 0;

/** When what was asked for has been done or never will be: commands may wait in front of a Redis that stands still. */
const doneBy = ({ sentAt, answeredAt }: Call, outages: readonly Outage[]) =>
  UNDER_WAY_MS +
  Math.max(
    answeredAt,
    ...outages
      .filter(standsStill)
      .filter(({ from, until }) => sentAt <= until && answeredAt >= from)
      .map(({ until }) => until),
  );

/** Put a delivery down to a lost answer: to a claim before a poll, which might have had others, too. */
function take({ jobId, spaceId, at }: Missing, lost: LostAnswer[]): boolean {
  const open = lost.filter(({ room, from, until }) => room > 0 && at >= from && at <= until);
  const answer = open.find((one) => one.jobId === jobId) ?? open.find((one) => one.spaceId === spaceId);
  if (answer === undefined) return false;
  answer.room--;
  return true;
}
