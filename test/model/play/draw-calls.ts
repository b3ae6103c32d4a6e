import {
  type LogsMode,
  listJobsQuery,
  OPERATION_ACTIONS,
  type OperationAction,
  type OperationRequest,
  STATUSES,
  type Status,
} from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import type { Random } from '../../support/random.js';
import { isWaiting, type KeyedCreate, type ManyCreate } from '../keyed.js';
import { promoteAt } from '../waiting.js';
import { iso, type ModelJob, type World } from '../world.js';
import type { Verb, VerbInputs } from './calls.js';
import { type IssuedIds, NO_ID } from './step.js';
import {
  DELAYS,
  logsOf,
  NAMES,
  newTimeOf,
  outcomeOf,
  plainOptionsOf,
  requestOf,
  SPACES,
  TAGS,
  uniqueOf,
  waitingOptionsOf,
} from './values.js';
import { forWorkerCalls, WORKER_CALLS, type WorkerCall, type WorkerVerb } from './worker-calls.js';

/** What a call is drawn from: the world, and the labels of its jobs. */
export interface Drawing {
  random: Random;
  world: World;
  issued: IssuedIds;
  /** Whether the clock of Redis may go back and may step. */
  isUnsteady: boolean;
  /** Whether jobs have retry policies, schedules, time limits and priorities, and are rescheduled. */
  isTimed: boolean;
  /** Number of the step, for labels. */
  at: number;
  /** The job that the call is about; null or left out for any. */
  about?: ModelJob | null;
}

/** How often each verb is called. */
export const WEIGHTS: Record<Exclude<Verb, 'markStep' | 'bringBack'>, number> = {
  ...{
    create: 4,
    createKeyed: 6,
    createMany: 2,
    poll: 12,
    claim: 5,
    ...forWorkerCalls<Record<WorkerVerb, number>>((verb) => WORKER_CALLS[verb].weight),
    reschedule: 5,
    kill: 10,
    requeue: 5,
    copy: 1,
    delete: 2,
    operate: 1,
  },
  ...{ pause: 2, resume: 4, tend: 3, bound: 6, recount: 2 },
  ...{ expire: 7, promote: 5, relay: 4, begin: 9, record: 12, redeliver: 4, append: 8 },
  ...{ readLogs: 6, get: 1, progress: 1, snapshot: 1, since: 2, list: 2, stats: 2, spaces: 1, due: 1 },
};

const isIn =
  (...statuses: Status[]) =>
  (job: ModelJob) =>
    statuses.includes(job.status);

/** Which jobs a verb moves on to another status, or is often called on. */
const FITTING: Partial<Record<Verb, (job: ModelJob) => boolean>> = {
  poll: isIn('pending'),
  claim: isIn('pending'),
  ...forWorkerCalls<Record<WorkerVerb, (job: ModelJob) => boolean>>((verb) => isIn(...WORKER_CALLS[verb].on)),
  reschedule: isIn('scheduled', 'pending'),
  requeue: isIn('dead'),
  delete: isIn('completed', 'dead'),
  readLogs: isIn('completed', 'dead'),
  promote: (job) => promoteAt(job) !== null,
  begin: ({ callback }) => callback?.isPending === true,
  record: ({ callback }) => typeof callback?.leasedUntil === 'number',
  redeliver: ({ callback }) => callback !== null,
};

/** Return how often each verb that moves this job on is called; null if there is no such verb. */
export function fittingWeights(job: ModelJob, { isTimed }: Drawing): Record<string, number> | null {
  const fitting = Object.entries(WEIGHTS)
    .filter(([verb]) => FITTING[verb as Verb]?.(job))
    .filter(([verb]) => isTimed || verb !== 'reschedule');
  return fitting.length === 0 ? null : Object.fromEntries(fitting);
}

/** Return the label of the job that the call is about, or of any job, or rarely of one that does not exist. */
function jobFor({ random, world, issued, about }: Drawing, verb: Verb): string {
  if (about) return issued.labelOf(about.id);
  // The verbs of schedulers need not refuse a text that is no id, because no scheduler can get one.
  if (random.chance(0.05)) return random.of(verb === 'begin' || verb === 'record' ? ['unknown'] : ['unknown', NO_ID]);
  return world.jobs.size === 0 ? 'unknown' : issued.labelOf(random.of([...world.jobs.keys()]));
}

const ofJob = (drawing: Drawing, verb: Verb) => ({
  job: jobFor(drawing, verb),
  caller: drawing.random.chance(0.8) ? null : drawing.random.of(SPACES),
});

/** Draw a worker's call: without a token, with that of any delivery of the job, or with one that the job never had. */
function ofWorker(drawing: Drawing, verb: Verb) {
  const { random, world, issued } = drawing;
  const call = ofJob(drawing, verb);
  const job = [...world.jobs.values()].find(({ id }) => issued.labelOf(id) === call.job);
  const tokens = job?.deliveries.map(({ token }) => token) ?? [];
  const token = random.chance(0.5)
    ? null
    : random.of([...tokens, ...tokens.slice(-1), ...tokens.slice(-1), '200.0', '1.200', '0.0', '0.0.0']);
  return { ...call, token };
}

/** Return the series of the callback, or the next or the previous one. */
function seriesOf({ random, world, issued }: Drawing, job: string): number {
  const found = [...world.jobs.values()].find(({ id }) => issued.labelOf(id) === job);
  return (found?.callback?.series ?? 0) + random.of([0, 0, 0, 0, 1, -1]);
}

const some = (random: Random, names: readonly string[]) => names.filter(() => random.chance(0.5));

const partitionIn = ({ random, about }: Drawing) => ({ partition: partitionOf(about?.spaceId ?? random.of(SPACES)) });

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

/** Draw which events to read: all, or a page, which may be empty. */
const rangeOf = (random: Random) =>
  random.chance(0.3) ? {} : { range: { after: random.between(0, 15), limit: random.of([0, 1, 2, 5, 100]) } };

/** Draw a page of jobs: by offset, or with a filter and a cursor. */
function listQueryOf({ random, world }: Drawing) {
  const limit = String(random.of([1, 3, 100]));
  const status = random.of([undefined, ...STATUSES]);
  if (random.chance(0.3)) return listJobsQuery.parse({ status, limit, offset: String(random.of([0, 0, 1, 4])) });
  const jobs = [...world.jobs.values()];
  const any = jobs.length > 0 ? random.of(jobs) : null;
  const moment = () => (any && random.chance(0.2) ? iso(any.createdAt) : undefined);
  const orNone = (values: readonly string[]) => (values.length > 0 ? values : undefined);
  return listJobsQuery.parse({
    status: random.chance(0.5) ? status : orNone(some(random, STATUSES)),
    name: random.chance(0.3) ? orNone(some(random, NAMES)) : undefined,
    tag: random.chance(0.3) ? orNone(some(random, TAGS)) : undefined,
    createdAfter: moment(),
    createdBefore: moment(),
    q: random.chance(0.2) ? random.of(['LIST', '{}', 'ü', 'none']) : undefined,
    order: random.of(['asc', 'desc']),
    cursor: any && random.chance(0.5) ? String(any.createdOrder) : undefined,
    limit,
  });
}

/** Draw what to pause or to resume: a whole space, or one or two names. */
function pauseOf({ random, about }: Drawing) {
  const names = [random.of([...NAMES, 'none']), random.of(NAMES)];
  return { space: about?.spaceId ?? random.of(SPACES), names: random.chance(0.2) ? null : names };
}

const IDEMPOTENCY_KEYS = ['one', 'two'];

/** Draw a create with keys; often one that was made before, or one that replaces a job that waits. */
function keyedCreateOf({ random, world, isTimed }: Drawing): KeyedCreate {
  const made = [...world.jobs.values()].filter(({ idempotencyKey: key }) => key !== null && !key.includes('\0'));
  if (made.length > 0 && random.chance(0.3)) {
    const { spaceId, firstRequest, idempotencyKey } = random.of(made);
    return { space: spaceId, request: firstRequest, idempotencyKey };
  }
  const idempotencyKey = random.of([null, null, ...IDEMPOTENCY_KEYS]);
  const mayLackKeys = idempotencyKey !== null || isTimed;
  const unique = mayLackKeys && random.chance(0.4) ? null : uniqueOf(random);
  const options = isTimed ? { ...plainOptionsOf(random), ...waitingOptionsOf(random, world.now) } : {};
  const request = { ...requestOf(random, options), unique };
  const waiting = [...world.jobs.values()].filter((job) => isWaiting(job.status) && job.request.unique !== null);
  if (!isTimed || waiting.length === 0 || random.chance(0.4))
    return { space: random.of(SPACES), request, idempotencyKey };
  const { spaceId, request: its } = random.of(waiting);
  const replacing = { ...(its.unique as NonNullable<typeof unique>), onConflict: 'replace' as const };
  return { space: spaceId, request: { ...request, name: its.name, unique: replacing }, idempotencyKey };
}

/** Draw a list of creates: all without options, or some with. Its idempotency key is new. */
function manyCreateOf(drawing: Drawing): ManyCreate {
  const { random, isTimed, at } = drawing;
  const isPlain = random.chance(0.4);
  const first = keyedCreateOf(drawing);
  const requests = Array.from({ length: random.between(1, 4) }, (_, i) => {
    if (isPlain || random.chance(0.3)) return requestOf(random, isTimed ? plainOptionsOf(random) : {});
    const { unique, ...request } = i === 0 ? first.request : keyedCreateOf(drawing).request;
    return { ...request, unique: unique && { ...unique, onConflict: random.of(['return', 'replace'] as const) } };
  });
  return { space: first.space, requests, idempotencyKey: random.chance(0.5) ? null : `many-${at}` };
}

/** Draw an operation on a few jobs, so that a sequence continues with the others. */
function operationOf({ random, isTimed }: Drawing): OperationRequest {
  const actions = Object.keys(OPERATION_ACTIONS) as OperationAction[];
  const action = random.of(isTimed ? actions : actions.filter((one) => one !== 'reschedule'));
  const statuses: readonly Status[] = OPERATION_ACTIONS[action];
  const isDelayed = isTimed && (action === 'reschedule' || (action === 'requeue' && random.chance(0.4)));
  return {
    action,
    filter: {
      status: statuses.filter(() => random.chance(0.7)).concat(statuses[0] as Status),
      ...(random.chance(0.3) && { names: [random.of(NAMES)] }),
      ...(random.chance(0.3) && { q: random.of(['a', '1', 'NO']) }),
    },
    limit: random.of([1, 1, 2, null]),
    dryRun: random.chance(0.1),
    reason: action === 'kill' ? random.of([null, 'enough "']) : null,
    delaySeconds: isDelayed ? random.of([0, ...DELAYS]) : null,
  };
}

export const DRAW_INPUT: { [V in keyof typeof WEIGHTS]: (drawing: Drawing) => VerbInputs[V] } = {
  create: ({ random, at, isTimed }) => ({
    label: `j${at}`,
    space: random.of(SPACES),
    request: requestOf(random, isTimed ? plainOptionsOf(random) : {}),
  }),
  createKeyed: (drawing) => ({ label: `j${drawing.at}`, ...keyedCreateOf(drawing) }),
  createMany: (drawing) => ({ label: `j${drawing.at}`, ...manyCreateOf(drawing) }),
  poll: ({ random, about }) => ({
    space: about?.spaceId ?? random.of([...SPACES, 'empty']),
    count: random.of([1, 1, 2, 5, 50]),
    names: random.chance(0.5) ? [] : some(random, [...NAMES, 'none']),
  }),
  claim: (drawing) => ofJob(drawing, 'claim'),
  ...forWorkerCalls<{ [V in WorkerVerb]: (drawing: Drawing) => VerbInputs[V] }>((verb) => (drawing) => {
    const { draw } = WORKER_CALLS[verb] as WorkerCall<object>;
    return { ...ofWorker(drawing, verb), ...draw(drawing.random, drawing.isTimed) } as VerbInputs[WorkerVerb];
  }),
  reschedule: (drawing) => ({
    ...ofJob(drawing, 'reschedule'),
    ...newTimeOf(drawing.random, drawing.world.now),
  }),
  requeue: (drawing) => ({
    ...ofJob(drawing, 'requeue'),
    delaySeconds: drawing.isTimed && drawing.random.chance(0.4) ? drawing.random.of(DELAYS) : null,
  }),
  copy: (drawing) => ({
    label: `j${drawing.at}`,
    ...ofJob(drawing, 'copy'),
    payload: drawing.random.of([undefined, undefined, { other: [] }]),
  }),
  delete: (drawing) => ofJob(drawing, 'delete'),
  operate: (drawing) => ({ space: drawing.random.of(SPACES), request: operationOf(drawing) }),
  kill: (drawing) => ({ ...ofJob(drawing, 'kill'), reason: drawing.random.of([null, 'enough "']) }),
  pause: pauseOf,
  resume: pauseOf,
  tend: partitionIn,
  bound: ({ random }) => ({ space: random.of(SPACES), maxBytes: random.chance(0.7) ? 1e12 : null }),
  recount: partitionIn,
  expire: partitionIn,
  promote: partitionIn,
  relay: partitionIn,
  begin(drawing) {
    const job = jobFor(drawing, 'begin');
    return { job, series: seriesOf(drawing, job) };
  },
  record(drawing) {
    const job = jobFor(drawing, 'record');
    const lease = drawing.random.of(['latest', 'latest', 'latest', 'earlier', 'none']);
    return { job, series: seriesOf(drawing, job), lease, ...outcomeOf(drawing.random) };
  },
  redeliver: (drawing) => ofJob(drawing, 'redeliver'),
  append: (drawing) => ({ ...ofJob(drawing, 'append'), logs: logsOf(drawing.random) }),
  readLogs: (drawing) => ({ ...ofJob(drawing, 'readLogs'), query: logsQueryOf(drawing.random) }),
  get: (drawing) => ({ ...ofJob(drawing, 'get'), ...rangeOf(drawing.random) }),
  progress: (drawing) => ofJob(drawing, 'progress'),
  snapshot: (drawing) => ofJob(drawing, 'snapshot'),
  since: (drawing) => ({ job: jobFor(drawing, 'since'), fromSeq: drawing.random.between(1, 15) }),
  list: (drawing) => ({ space: drawing.random.of(SPACES), ...listQueryOf(drawing) }),
  stats: ({ random }) => ({
    space: random.of(SPACES),
    limit: random.of([1, 2, 100]),
    names: random.chance(0.5) ? [] : some(random, [...NAMES, 'none']),
  }),
  spaces: ({ random }) => ({ cursor: random.of([null, null, ...SPACES]), limit: random.of([1, 2, 100]) }),
  due: () => ({}),
};
