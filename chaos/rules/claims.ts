import { isDeepStrictEqual } from 'node:util';
import { statusAfter } from '@yardmaster/protocol';
import type { Body, Call } from '../checker/history.js';
import { type Delivery, deliveriesOf, deliveryOf, RETURNS, statusAtCreation } from './attempts.js';
import { type Claim, type Finding, linesOf, type Rule, ruleForEachJob, type StoredCase, storedCases } from './rule.js';

/**
 * No two workers get the same attempt (P2): clients get a job at most as often as it was delivered. A lost response does not
 * count. The rule `histories` checks that the window had closed between two deliveries of one attempt.
 */
export const claims = ruleForEachJob('claims', 'P2', ({ job, claims: all }) =>
  [...new Set(all.map(({ attempt }) => attempt))].flatMap((attempt) => {
    const some = all.filter((claim) => claim.attempt === attempt);
    const delivered = deliveriesOf(job).filter((delivery) => delivery.attempt === attempt).length;
    if (some.length <= delivered) return [];
    const says = `attempt ${attempt} was delivered ${delivered} times and claimed ${some.length} times`;
    return [{ damage: 'duplicated', says, lines: linesOf(some.map(({ call }) => call)) }];
  }),
);

const KEPT = ['name', 'createdAt'] as const;
const REPLACED = ['payload', 'maxRetries', 'timeoutSeconds'] as const; // Not of a job whose request was replaced later.

/**
 * A worker gets only jobs that it asked for, each with its latest request and the latest checkpoint of earlier attempts (P3).
 * A checkpoint with a 2xx response must not be lost.
 */
export const claimedJob = ruleForEachJob('claimed-job', 'P3', ({ job, claims: all }) =>
  all.flatMap(({ attempt, job: got, call }) => {
    const names: string[] | undefined = call.sent?.types;
    const delivered = deliveriesOf(job).filter((delivery) => delivery.attempt === attempt);
    const delivery = deliveryTo(got, call, delivered);
    const checkpoint = delivery?.checkpoint ?? null;
    const isReplaced = job.events.findLastIndex(({ type }) => type === 'replaced') > (delivery?.from ?? 0);
    const fields = isReplaced ? KEPT : [...KEPT, ...REPLACED];
    const wrong = [
      ...(call.spaceId === null || call.spaceId === job.spaceId ? [] : [`was claimed in ${call.spaceId}`]),
      ...(names === undefined || names.includes(job.name) ? [] : [`was claimed by a poll for ${names}`]),
      ...fields.flatMap((field) => (isDeepStrictEqual(got[field], job[field]) ? [] : [`has another ${field}`])),
      ...(isDeepStrictEqual(got.checkpoint, checkpoint) ? [] : ['has another checkpoint than the latest']),
    ];
    return wrong.map((says) => ({ damage: 'lost', says: `claimed attempt ${attempt} ${says}`, lines: [call.line] }));
  }),
);

/**
 * Return the delivery of a claimed job, or else the last one. After a release, the same attempt can have another delivery. A job
 * of the examples has no token; its delivery was during the call.
 */
const deliveryTo = (job: Body, { sentAt, endedAt }: Call, all: readonly Delivery[]): Delivery | undefined =>
  all.find(({ token }) => token === deliveryOf(job.deliveryToken)) ??
  all.find(({ at }) => at >= sentAt - 1 && at <= endedAt + 1) ??
  all.at(-1);

/** A time span in which a job was pending, epoch milliseconds. */
interface Wait {
  one: StoredCase;
  place: number; // Time that determines its place in the queue.
  from: number;
  until: number;
  token?: string | undefined; // Token of the delivery that ended the wait.
}

/** A poll gets the oldest matching jobs, and never a younger one instead (P3). */
export const order: Rule = {
  name: 'order',
  promise: 'P3',
  check(evidence) {
    // After a step of the clock, times in the history do not reveal the order of schedules and head starts.
    const hasStepped = evidence.outages.some(({ stops }) => stops.includes('clock'));
    const waits = storedCases(evidence)
      .filter(({ job }) => !hasStepped || (job.scheduledFor === undefined && job.priority === undefined))
      .flatMap(waitsOf);
    return waits.flatMap((wait) =>
      wait.one.claims.filter((claim) => ended(wait, claim)).flatMap((claim) => passedOver(wait, claim, waits)),
    );
  },
};

function waitsOf(one: StoredCase): Wait[] {
  const waits: Wait[] = [];
  const deliveries = deliveriesOf(one.job);
  for (const [i, { type, data, createdAt }] of one.job.events.entries()) {
    const at = Date.parse(createdAt);
    // A job joins the end of its queue. Only a job that was released or not acked returns to the place of its creation.
    const place = (RETURNS.includes(type) ? Date.parse(one.job.createdAt) : at) - (one.job.priority ?? 0) * 1_000;
    const status = type === 'created' ? statusAtCreation(one.job) : statusAfter({ type, data });
    if (status === 'pending' && type !== 'replaced')
      waits.push({ one, place, from: at, until: Number.POSITIVE_INFINITY });
    const last = waits.at(-1);
    if (status === 'pending' || status === null || last === undefined || last.until <= at) continue;
    last.until = at;
    last.token = deliveries.find(({ from }) => from === i)?.token;
  }
  return waits;
}

/** Check whether a poll ended this wait. Long polls overlap, so the token decides; a job of the examples has none. */
const ended = ({ until, token }: Wait, { call, job: { deliveryToken = token } }: Claim) =>
  call.op === 'poll' && call.sentAt <= until && call.endedAt >= until && deliveryOf(deliveryToken) === token;

/** Report a poll that took this job while an older one waited. Events within the same millisecond have no order. */
function passedOver({ one, place, until: at }: Wait, { call }: Claim, waits: readonly Wait[]): Finding[] {
  const names: string[] | undefined = call.sent?.types;
  const older = waits.find(
    ({ one: { job }, ...other }) =>
      job.spaceId === one.job.spaceId &&
      other.place < place &&
      other.from < at &&
      other.until > at &&
      (names === undefined || names.includes(job.name)),
  );
  if (older === undefined) return [];
  return [{ jobId: one.jobId, says: `it was claimed before ${older.one.jobId}, which is older`, lines: [call.line] }];
}
