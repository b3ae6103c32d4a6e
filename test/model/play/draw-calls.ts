import { type LogsMode, STATUSES, type Status } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import type { Random } from '../../support/random.js';
import type { ModelJob, World } from '../world.js';
import type { Asked, Verb } from './calls.js';
import { type GivenOut, NO_ID } from './step.js';
import { beatOf, jsonOf, logsOf, NAMES, outcomeOf, requestOf, SPACES } from './values.js';

/** What a call is drawn from: where the world stands, and how its jobs are called. */
export interface Drawing {
  random: Random;
  world: World;
  given: GivenOut;
  /** Whether Redis' clock may go back, and step. */
  isUnsteady: boolean;
  /** Number of the step, for labels. */
  at: number;
  /** The job that is to be asked about; null or left out for any. */
  about?: ModelJob | null;
}

/** How often each verb is asked. */
export const WEIGHTS: Record<Exclude<Verb, 'markStep' | 'bringBack'>, number> = {
  ...{ create: 8, poll: 12, claim: 5, ack: 10, heartbeat: 14, complete: 8, fail: 12, kill: 4 },
  ...{ expire: 7, relay: 4, begin: 9, record: 12, redeliver: 4, append: 8 },
  ...{ readLogs: 6, get: 1, progress: 1, snapshot: 1, since: 2, list: 2, stats: 2, due: 1 },
};

const isIn =
  (...statuses: Status[]) =>
  (job: ModelJob) =>
    statuses.includes(job.status);

/** With which jobs a verb gets on with their lives. */
const FITTING: Partial<Record<Verb, (job: ModelJob) => boolean>> = {
  poll: isIn('pending'),
  claim: isIn('pending'),
  ack: isIn('delivered'),
  heartbeat: isIn('running'),
  complete: isIn('running'),
  fail: isIn('running'),
  begin: ({ callback }) => callback?.isOwed === true,
  record: ({ callback }) => typeof callback?.leasedUntil === 'number',
  redeliver: ({ callback }) => callback !== null,
};

/** How often each verb is asked of a job that it gets on with; null for a job that is over. */
export function fittingWeights(job: ModelJob): Record<string, number> | null {
  const fitting = Object.entries(WEIGHTS).filter(([verb]) => FITTING[verb as Verb]?.(job));
  return fitting.length === 0 ? null : Object.fromEntries(fitting);
}

/** The job that the call is to be about; else any, and now and then one that is not there. */
function jobFor({ random, world, given, about }: Drawing, verb: Verb): string {
  if (about) return given.labelOf(about.id);
  // What no scheduler could be given, its verbs need not know.
  if (random.chance(0.05)) return random.of(verb === 'begin' || verb === 'record' ? ['unknown'] : ['unknown', NO_ID]);
  return world.jobs.size === 0 ? 'unknown' : given.labelOf(random.of([...world.jobs.keys()]));
}

const ofJob = (drawing: Drawing, verb: Verb) => ({
  job: jobFor(drawing, verb),
  caller: drawing.random.chance(0.8) ? null : drawing.random.of(SPACES),
});

/** The round that is owed, or the one after it, or none. */
function seriesOf({ random, world, given }: Drawing, job: string): number {
  const owing = [...world.jobs.values()].find(({ id }) => given.labelOf(id) === job);
  return (owing?.callback?.series ?? 0) + random.of([0, 0, 0, 0, 1, -1]);
}

const some = (random: Random, names: readonly string[]) => names.filter(() => random.chance(0.5));

const partitionIn = ({ random }: Drawing) => ({ partition: partitionOf(random.of(SPACES)) });

function logsQueryOf(random: Random) {
  const mode = random.of<LogsMode>(['after', 'before', 'latest']);
  return {
    mode,
    bound: mode === 'latest' ? null : random.between(0, 6),
    limit: random.of([1, 2, 3, 200]),
    levels: random.chance(0.3) ? [random.of(['info', 'warn', 'error'] as const)] : null,
    terms: random.chance(0.3) ? [random.of(['Full', 'half', 'a'])] : [],
  };
}

/** What a verb is asked, at random. */
export const ASKED: { [V in keyof typeof WEIGHTS]: (drawing: Drawing) => Asked[V] } = {
  create: ({ random, at }) => ({ label: `j${at}`, space: random.of(SPACES), request: requestOf(random) }),
  poll: ({ random, about }) => ({
    space: about?.spaceId ?? random.of([...SPACES, 'nobody']),
    count: random.of([1, 1, 2, 5, 50]),
    names: random.chance(0.5) ? [] : some(random, [...NAMES, 'none']),
  }),
  claim: (drawing) => ofJob(drawing, 'claim'),
  ack: (drawing) => ofJob(drawing, 'ack'),
  heartbeat: (drawing) => ({ ...ofJob(drawing, 'heartbeat'), beat: beatOf(drawing.random) }),
  complete: (drawing) => ({ ...ofJob(drawing, 'complete'), result: jsonOf(drawing.random) }),
  fail: (drawing) => ({ ...ofJob(drawing, 'fail'), error: drawing.random.of(['no', { why: [] }, {}]) }),
  kill: (drawing) => ({ ...ofJob(drawing, 'kill'), reason: drawing.random.of([null, 'enough "']) }),
  expire: partitionIn,
  relay: partitionIn,
  begin(drawing) {
    const job = jobFor(drawing, 'begin');
    return { job, series: seriesOf(drawing, job) };
  },
  record(drawing) {
    const job = jobFor(drawing, 'record');
    const lease = drawing.random.of(['held', 'held', 'held', 'earlier', 'none']);
    return { job, series: seriesOf(drawing, job), lease, ...outcomeOf(drawing.random) };
  },
  redeliver: (drawing) => ofJob(drawing, 'redeliver'),
  append: (drawing) => ({ ...ofJob(drawing, 'append'), logs: logsOf(drawing.random) }),
  readLogs: (drawing) => ({ ...ofJob(drawing, 'readLogs'), query: logsQueryOf(drawing.random) }),
  get: (drawing) => ofJob(drawing, 'get'),
  progress: (drawing) => ofJob(drawing, 'progress'),
  snapshot: (drawing) => ofJob(drawing, 'snapshot'),
  since: (drawing) => ({ job: jobFor(drawing, 'since'), fromSeq: drawing.random.between(1, 15) }),
  list: ({ random }) => ({
    space: random.of(SPACES),
    status: random.of([undefined, ...STATUSES]),
    limit: random.of([1, 3, 100]),
    offset: random.of([0, 0, 1, 4]),
  }),
  stats: ({ random }) => ({
    space: random.of(SPACES),
    limit: random.of([1, 2, 100]),
    names: random.chance(0.5) ? [] : some(random, [...NAMES, 'none']),
  }),
  due: () => ({}),
};
