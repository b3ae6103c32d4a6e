import type { Dump, DumpedJob } from '../dump.js';
import type { Call, Callback, Entry, Stream } from '../history.js';
import type { Settings } from '../installation.js';

/** A promise of ours, by its number. */
export type PromiseId = `P${number}`;

/** What something that breaks a promise amounts to, for the table of a run. */
export type Damage = 'lost' | 'duplicated' | 'late' | 'other';

/** A promise that was broken. */
export interface Violation {
  promise: PromiseId;
  /** Name of the rule that found it. */
  rule: string;
  damage: Damage;
  /** Null for what is about no one job. */
  jobId: string | null;
  /** One sentence. */
  says: string;
  /** Lines of the history that show it. */
  lines: number[];
}

/** What was away for some time, epoch milliseconds, since a fault was at work. */
export interface Outage {
  from: number;
  /** When it was healed. */
  until: number;
  stops: readonly Stopped[];
  /** Names of the processes that are away, or that Redis is away from. None: all. */
  hit: readonly string[];
  /** Codes that streams may be closed with for no other reason. */
  closes: readonly number[];
}

/**
 * `room` is that of Redis: without it, what needs some is refused. `hanging callbacks`: nobody waits for a receiver that
 * hangs, as when a scheduler is told to stop.
 */
export type Stopped = 'api' | 'gateway' | 'scheduler' | 'redis' | 'room' | 'hanging callbacks';

/** Whether an outage hits a process, by its name, or one of a kind. */
export const isHit = ({ hit }: Outage, name: string): boolean =>
  hit.length === 0 || hit.some((one) => one === name || one.startsWith(`${name}-`));

/** A job as the clients and the dump tell of it. */
export interface Case {
  jobId: string;
  /** Null for one that clients know and Redis does not. */
  job: DumpedJob | null;
  /** Calls that name it, its creation included, in the order of their answers. */
  calls: Call[];
  /** Times that a client was handed it. */
  handOuts: HandOut[];
  callbacks: Callback[];
}

/** A client was answered with the job, by a poll or a claim. */
export interface HandOut {
  attempt: number;
  /** As it was told. */
  job: Call['body'];
  call: Call;
}

/** Everything that a rule may look at. */
export interface Evidence {
  entries: readonly Entry[];
  calls: readonly Call[];
  streams: readonly Stream[];
  cases: readonly Case[];
  dump: Dump;
  outages: readonly Outage[];
  settings: Settings;
}

/** Looks for one kind of broken promise: a pure function. */
export interface Rule {
  name: string;
  promise: PromiseId;
  check(evidence: Evidence): Found[];
}

/** What a rule finds; the rest of a violation is the rule's own. */
export type Found = Pick<Violation, 'jobId' | 'says'> & Partial<Pick<Violation, 'lines' | 'damage' | 'promise'>>;

/** The same of a rule that looks at one job at a time. */
export type Said = Omit<Found, 'jobId'>;

/** A job that is stored, and what clients know of it. */
export type StoredCase = Case & { job: DumpedJob };

/** A rule that looks at one job at a time. */
export function ruleForEachJob(
  name: string,
  promise: PromiseId,
  check: (one: StoredCase, evidence: Evidence) => Said[],
): Rule {
  return {
    name,
    promise,
    check: (evidence) =>
      evidence.cases.flatMap(({ job, ...one }) =>
        job === null ? [] : check({ ...one, job }, evidence).map((found) => ({ jobId: one.jobId, ...found })),
      ),
  };
}

/** Lines of some entries, for a violation. */
export const linesOf = (entries: readonly { line: number }[]) => entries.map(({ line }) => line);
