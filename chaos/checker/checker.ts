import type { Settings } from '../installation/installation.js';
import { RULES } from '../rules/all.js';
import { type Claim, type Evidence, type JobCase, linesOf, type Outage, type Violation } from '../rules/rule.js';
import type { Dump } from './dump.js';
import { type Call, type Callback, type Entry, ofKind } from './history.js';
import { type Span, type Stalls, wasStalled } from './stalls.js';
import { callbacksAfter, callsAfter, streamsAfter } from './undone.js';

/** Everything that a run records for the rules. */
export interface Record {
  entries: readonly Entry[];
  dump: Dump;
  outages: readonly Outage[];
  settings: Settings;
  /** Spans whose effects may be undone, such as the last two seconds before a power cut; see undone.ts. Default none. */
  undone?: readonly Span[];
}

const SHOWN = 12; // Calls for the job to show with a violation that names no lines.

/** Compare the responses and messages of all clients with the stored data at the end. @returns broken promises */
export function check(record: Record): Violation[] {
  const evidence = evidenceOf(record);
  const lines = new Map(evidence.cases.map(({ jobId, calls }) => [jobId, linesOf(calls.slice(-SHOWN))]));
  return RULES.flatMap(({ name: rule, promise, check: look }) =>
    look(evidence).map((found) => {
      const { jobId = null } = found;
      return { rule, promise, jobId, damage: 'other' as const, lines: lines.get(jobId ?? '') ?? [], ...found };
    }),
  );
}

/** Separate missed deadlines that prove nothing because the machine stalled. */
export function judge(found: readonly Violation[], stalls: Stalls) {
  const isUnfair = ({ during }: Violation) => during !== undefined && wasStalled(stalls, during);
  return { violations: found.filter((one) => !isUnfair(one)), notJudged: found.filter(isUnfair) };
}

/** Group a record by job. */
export function evidenceOf({ entries, dump, outages, settings, undone = [] }: Record): Evidence {
  const calls = callsAfter(undone, ofKind(entries, 'call'), dump);
  const streams = streamsAfter(undone, ofKind(entries, 'stream'), dump);
  const cases = casesOf(calls, callbacksAfter(undone, ofKind(entries, 'callback'), dump), dump);
  return { calls, streams, cases, dump, outages, settings };
}

function casesOf(calls: readonly Call[], callbacks: readonly Callback[], dump: Dump): JobCase[] {
  const cases = new Map<string, JobCase>();
  const caseOf = (jobId: string): JobCase => {
    const known = cases.get(jobId) ?? { jobId, job: null, calls: [], claims: [], callbacks: [] };
    cases.set(jobId, known);
    return known;
  };
  for (const job of dump.jobs) caseOf(job.id).job = job;
  for (const call of calls) {
    if (call.jobId !== null) caseOf(call.jobId).calls.push(call);
    for (const claim of claimsIn(call)) caseOf(claim.job.id).claims.push(claim);
  }
  for (const callback of callbacks) caseOf(callback.jobId).callbacks.push(callback);
  return [...cases.values()];
}

function claimsIn(call: Call): Claim[] {
  const { op, outcome, body } = call;
  if (outcome !== 'ok' || (op !== 'poll' && op !== 'claim')) return [];
  const jobs: Claim['job'][] = op === 'poll' ? body.jobs : body.claimed ? [body.job] : [];
  return jobs.map((job) => ({ attempt: job.attemptNumber, job, call }));
}
