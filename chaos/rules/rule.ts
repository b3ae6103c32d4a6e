import type { Dump, DumpedJob } from '../checker/dump.js';
import type { Body, Call, Callback, Operation, Stream } from '../checker/history.js';
import type { Span } from '../checker/stalls.js';
import type { Settings } from '../installation/installation.js';

export type { Body, Call, Callback, DumpedJob, Operation, Span, Stream };

/** A promise of docs/reliability.md, by its number. */
export type PromiseId = `P${number}`;

/** What a broken promise amounts to, for the table of a run. */
export type Damage = 'lost' | 'duplicated' | 'late' | 'other';

/** A broken promise. */
export interface Violation {
  promise: PromiseId;
  rule: string; // Name of the rule, or id of the fault, that found it.
  damage: Damage;
  jobId: string | null; // Null when it concerns no single job.
  says: string; // One sentence.
  lines: number[]; // Lines of the history that show it.
  /** Of a missed deadline: the time in which the machine must not have stalled, since otherwise it proves nothing. */
  during?: Span;
}

/** What a rule or a fault finds; the rest of the violation follows from it. */
export type Finding = Pick<Violation, 'says'> & Partial<Violation>;

/**
 * What a fault makes unavailable. `room`: Redis refuses what needs memory. `safety`: Redis may evict jobs. `capacity`: there is
 * more load than Redis or an API can take. `hanging callbacks`: a scheduler that stops does not wait for a receiver that hangs.
 * `clock`: it steps forward, and retries of callbacks that wait come early.
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

/** The time in which a fault was active. */
export interface Outage extends Span {
  stops: readonly Stopped[];
  affected: readonly string[]; // Names of the processes that are unavailable, or that cannot reach Redis. Empty: all.
  closes: readonly number[]; // Codes that streams may be closed with because of this fault alone.
}

/** Whether an outage affects a process, by its name, or any of a kind. */
export const affects = ({ affected }: Outage, name: string): boolean =>
  affected.length === 0 || affected.some((one) => one === name || one.startsWith(`${name}-`));

/** A response to a poll or a claim, and a job in it. */
export interface Claim {
  attempt: number;
  job: Body;
  call: Call;
}

/** What is known about one job. */
export interface JobCase {
  jobId: string;
  job: DumpedJob | null; // Null for a job that clients know and Redis does not.
  calls: Call[]; // Calls that name it, its create included, in the order of their responses.
  claims: Claim[];
  callbacks: Callback[];
}

export type StoredCase = JobCase & { job: DumpedJob };

/** All that a rule may look at. */
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

/** Looks for one kind of broken promise: a pure function. */
export interface Rule {
  name: string;
  promise: PromiseId;
  check(evidence: Evidence): Finding[];
}

/** A rule that looks at one job at a time. */
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

export const linesOf = (entries: readonly { line: number }[]) => entries.map(({ line }) => line);
