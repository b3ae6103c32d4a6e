import type { Dump, DumpedJob } from '../checker/dump.js';
import type { Body, Call, Callback, Operation, Stream } from '../checker/history.js';
import type { Span } from '../checker/stalls.js';
import type { Settings } from '../installation/installation.js';

export type { Body, Call, Callback, DumpedJob, Operation, Span, Stream };

/** A promise of docs/reliability/promises.md, by its number in the suite. */
export type PromiseId = `P${number}`;

/** Kind of damage of a broken promise, for the table of a run. */
export type Damage = 'lost' | 'duplicated' | 'late' | 'other';

/** A broken promise. */
export interface Violation {
  promise: PromiseId;
  rule: string; // Name of the rule, or ID of the fault, that found it.
  damage: Damage;
  jobId: string | null; // Null if it does not concern a single job.
  says: string; // One sentence.
  lines: number[]; // Lines of the history that prove it.
  /** For a missed deadline: span in which a stall of the machine invalidates the violation. */
  during?: Span;
}

/** A violation as reported by a rule or a fault, which defaults complete. */
export type Finding = Pick<Violation, 'says'> & Partial<Violation>;

/**
 * A part that a fault makes unavailable. `room`: Redis refuses commands that need memory. `safety`: Redis may evict jobs.
 * `capacity`: the load exceeds what Redis or an API can serve. `hanging callbacks`: a stopping scheduler does not wait for a
 * hanging receiver. `clock`: it steps forward, so that callback retries are early.
 */
export type Stopped =
  | 'api'
  | 'gateway'
  | 'scheduler'
  | 'redis'
  | 'room'
  | 'safety'
  | 'capacity'
  | 'hanging callbacks'
  | 'clock';

/** The time during which a fault was active. */
export interface Outage extends Span {
  stops: readonly Stopped[];
  affected: readonly string[]; // Processes that are unavailable or cannot reach Redis; empty for all.
  closes: readonly number[]; // Close codes of streams that this fault alone explains.
}

/** Check whether an outage affects a process, or any process of a kind. */
export const affects = ({ affected }: Outage, name: string): boolean =>
  affected.length === 0 || affected.some((one) => one === name || one.startsWith(`${name}-`));

/** A claimed job and the poll or claim that got it. */
export interface Claim {
  attempt: number;
  job: Body;
  call: Call;
}

/** All evidence about one job. */
export interface JobCase {
  jobId: string;
  job: DumpedJob | null; // Null for a job that clients know but Redis does not contain.
  calls: Call[]; // Calls that name it, including its create, in the order of their responses.
  claims: Claim[];
  callbacks: Callback[];
}

export type StoredCase = JobCase & { job: DumpedJob };

/** Everything that a rule can use. */
export interface Evidence {
  calls: readonly Call[];
  streams: readonly Stream[];
  cases: readonly JobCase[];
  dump: Dump;
  outages: readonly Outage[];
  settings: Settings;
}

export const storedCases = ({ cases }: Evidence): StoredCase[] =>
  cases.flatMap(({ job, ...rest }) => (job === null ? [] : [{ ...rest, job }]));

/** A check for one kind of broken promise, as a pure function. */
export interface Rule {
  name: string;
  promise: PromiseId;
  check(evidence: Evidence): Finding[];
}

/** Create a rule that checks one job at a time. */
export const ruleForEachJob = (
  name: string,
  promise: PromiseId,
  check: (one: StoredCase, evidence: Evidence) => Finding[],
): Rule => ({
  name,
  promise,
  check: (evidence) =>
    storedCases(evidence).flatMap((one) => check(one, evidence).map((found) => ({ ...found, jobId: one.jobId }))),
});

/** Group items by a key. */
export function groupsOf<T>(all: readonly T[], keyOf: (one: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return [...groups.values()];
}

export const linesOf = (entries: readonly { line: number }[]) => entries.map(({ line }) => line);
