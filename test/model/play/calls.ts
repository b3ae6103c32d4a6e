import type {
  CopyRequest,
  CreateJobRequest,
  EventRange,
  LogsQuery,
  NewLog,
  OperationRequest,
  PauseRequest,
  RequeueRequest,
  RescheduleRequest,
} from '@yardmaster/protocol';
import * as store from '@yardmaster/store';
import * as attempts from '../attempts.js';
import * as callbacks from '../callbacks.js';
import { due, expire, markStep, promote, reopenWindows } from '../deadlines.js';
import { claim, create, poll } from '../delivering.js';
import { createKeyed, createMany, type KeyedCreate, type ManyCreate } from '../keyed.js';
import * as logs from '../logs.js';
import * as manage from '../manage.js';
import { type OperationCounts, operate } from '../operations.js';
import * as pauses from '../pauses.js';
import * as reading from '../reading.js';
import { reschedule } from '../waiting.js';
import type { World } from '../world.js';
import { type BodyOf, forWorkerCalls, WORKER_CALLS, type WorkerCall, type WorkerVerb } from './worker-calls.js';

interface OfJob {
  /** Id of the job. */
  job: string;
  /** The one space that the caller may touch; null for any. */
  caller: string | null;
}

interface OfWorker extends OfJob {
  /** Delivery token; null for none. */
  token: string | null;
}

/** The input of each call in WORKER_CALLS. */
type WorkerInputs = { [V in WorkerVerb]: OfWorker & BodyOf<V> };

/** The input of each verb of the store. */
export interface VerbInputs extends WorkerInputs {
  create: { label: string; space: string; request: CreateJobRequest };
  createKeyed: { label: string } & KeyedCreate;
  createMany: { label: string } & ManyCreate;
  poll: { space: string; count: number; names: string[] };
  claim: OfJob;
  reschedule: OfJob & RescheduleRequest;
  requeue: OfJob & RequeueRequest;
  copy: { label: string } & OfJob & CopyRequest;
  delete: OfJob;
  operate: { space: string; request: OperationRequest };
  kill: OfJob & { reason: string | null };
  pause: { space: string } & PauseRequest;
  resume: { space: string } & PauseRequest;
  tend: { partition: string };
  bound: { space: string; maxBytes: number | null };
  recount: { partition: string };
  expire: { partition: string };
  promote: { partition: string };
  markStep: { partition: string; lookedAt: number };
  bringBack: { partition: string };
  relay: { partition: string };
  begin: { job: string; series: number };
  record: callbacks.Outcome;
  redeliver: OfJob;
  append: OfJob & { logs: NewLog[] };
  readLogs: OfJob & { query: LogsQuery };
  get: OfJob & { range?: EventRange };
  progress: OfJob;
  snapshot: OfJob;
  since: { job: string; fromSeq: number };
  list: reading.PageOfJobs;
  stats: { space: string; limit: number; names: string[] };
  spaces: { cursor: string | null; limit: number };
  due: Record<never, never>;
}

export type Verb = keyof VerbInputs;

export type Call<V extends Verb = Verb> = { [K in V]: { verb: K } & VerbInputs[K] }[V];

interface StoreAndModel<A> {
  /** Call the store. */
  perform(at: store.Store, input: A): Promise<unknown>;
  /** Call the model, which changes its world. `stored` is the store's response, because only the store chooses ids. */
  predict(world: World, input: A, stored: unknown): unknown;
}

const of = ({ caller }: OfJob): store.Caller => ({ spaceId: caller });
const by = ({ caller, token }: OfWorker): store.Worker => ({ spaceId: caller, deliveryToken: token });

const PREDICTIONS = { ...attempts.ATTEMPT_CALLS, heartbeat: attempts.heartbeat };

const WORKERS = forWorkerCalls<{ [V in WorkerVerb]: StoreAndModel<WorkerInputs[V]> }>((verb) => ({
  perform: (at: store.Store, it: OfWorker) =>
    (WORKER_CALLS[verb] as WorkerCall<unknown>).perform(at, by(it), it.job, it),
  predict: PREDICTIONS[verb] as StoreAndModel<OfWorker>['predict'],
}));

const VERBS: { [V in Verb]: StoreAndModel<VerbInputs[V]> } = {
  create: {
    perform: async (at, { space, request }) => (await store.createJob(at, space, request)).job,
    predict: (world, input, stored) => create(world, { ...input, id: (stored as { id: string }).id }),
  },
  createKeyed: {
    perform: (at, it) => store.createJob(at, it.space, it.request, it.idempotencyKey),
    predict: (world, input, stored) => createKeyed(world, { ...input, id: (stored as store.Creation).job?.id }),
  },
  createMany: {
    perform: (at, { space, requests, idempotencyKey }) => {
      const packed = requests.map((it) => store.packJob(space, it, idempotencyKey === null ? null : it));
      return store.createJobs(at, space, packed, { idempotencyKey, inTurn: (run) => run() });
    },
    predict: (world, input, stored) => {
      const { jobs = [] } = stored as Partial<store.ManyCreated>;
      return createMany(world, { ...input, ids: jobs.map(({ id }) => id) });
    },
  },
  poll: {
    perform: async (at, { space, ...request }) => (await store.pollJobs(at, space, request)).jobs,
    predict: poll,
  },
  claim: { perform: (at, it) => store.claimJob(at, of(it), it.job), predict: claim },
  ...WORKERS,
  reschedule: { perform: (at, it) => store.rescheduleJob(at, of(it), it.job, it), predict: reschedule },
  requeue: { perform: (at, it) => store.requeueJob(at, of(it), it.job, it), predict: manage.requeue },
  copy: {
    perform: (at, it) => store.copyJob(at, of(it), it.job, it),
    predict: (world, input, stored) => manage.copy(world, { ...input, copyId: (stored as { id: string }).id }),
  },
  delete: { perform: (at, it) => store.deleteJob(at, of(it), it.job), predict: manage.remove },
  operate: { perform: carryOut, predict: operate },
  kill: { perform: (at, it) => store.killJob(at, of(it), it.job, it.reason), predict: attempts.kill },
  pause: { perform: (at, it) => store.pauseSpace(at, it.space, it), predict: pauses.pause },
  resume: { perform: (at, it) => store.resumeSpace(at, it.space, it), predict: pauses.resume },
  tend: { perform: (at, { partition }) => store.requeueResumed(at, partition), predict: pauses.tend },
  // The model knows no bytes: these change nothing that a caller sees. fsck compares the sums in the end.
  bound: {
    perform: async (at, { space, maxBytes }) =>
      (await store.changeSettings(at, store.ANY_SPACE, space, { maxBytes })).settings.maxBytes ?? null,
    predict: (_, { maxBytes }) => maxBytes,
  },
  recount: { perform: (at, { partition }) => store.recountBytes(at, partition), predict: (_, __, stored) => stored },
  expire: {
    perform: async (at, { partition }) => store.expireDue(at, partition, await store.redisNow(at)),
    predict: expire,
  },
  promote: {
    perform: async (at, { partition }) => store.promoteDue(at, partition, await store.redisNow(at)),
    predict: promote,
  },
  markStep: { perform: (at, it) => store.markStep(at, it.partition, it.lookedAt), predict: markStep },
  bringBack: { perform: (at, { partition }) => store.reopenWindows(at, partition), predict: reopenWindows },
  relay: { perform: (at, { partition }) => store.relayCallbacks(at, partition), predict: callbacks.relay },
  begin: {
    perform: (at, { job, series }) => store.beginCallback(at, { jobId: job, series }),
    predict: (world, it, stored) => callbacks.begin(world, { ...it, order: (stored as { order?: string }).order }),
  },
  record: {
    perform: (at, { job, series, ...outcome }) => store.recordCallback(at, { jobId: job, series }, outcome),
    predict: callbacks.record,
  },
  redeliver: { perform: (at, it) => store.redeliverCallback(at, of(it), it.job), predict: callbacks.redeliver },
  append: {
    perform: (at, it) => store.appendLogs(at, of(it), it.job, it.logs.map(store.packLog)),
    predict: logs.append,
  },
  readLogs: { perform: (at, it) => store.readLogs(at, of(it), it.job, it.query), predict: logs.read },
  get: { perform: (at, it) => store.getJob(at, of(it), it.job, it.range), predict: reading.get },
  progress: { perform: (at, it) => store.getProgress(at, of(it), it.job), predict: reading.progress },
  snapshot: { perform: (at, it) => store.readSnapshot(at, of(it), it.job), predict: reading.snapshot },
  since: { perform: (at, { job, fromSeq }) => store.readSince(at, job, fromSeq), predict: reading.since },
  list: {
    perform: (at, { space, ...query }) => store.listJobs(at, store.ANY_SPACE, space, query),
    predict: reading.list,
  },
  stats: {
    perform: (at, { space, ...query }) => store.getStats(at, store.ANY_SPACE, space, query),
    predict: reading.stats,
  },
  spaces: { perform: (at, query) => store.listSpaces(at, store.ANY_SPACE, query), predict: reading.spaces },
  due: {
    perform: async (at) => {
      const { clocks, recounts, ...found } = await store.findDue(at);
      return found;
    },
    predict: due,
  },
};

/** Start an operation, and carry it out as a scheduler does. */
async function carryOut(at: store.Store, { space, request }: VerbInputs['operate']): Promise<OperationCounts> {
  const { operation } = await store.startOperation(at, space, request, null);
  while ((await store.stepOperation(at, store.partitionOf(space)))?.isDone === false);
  const { looked, changed, skipped, left } = await store.getOperation(at, { spaceId: space }, operation.id);
  return { looked, changed, skipped, left };
}

/** Return both functions of a call's verb; the type of the table cannot express that they fit the call. */
export const storeAndModelOf = ({ verb }: Call) => VERBS[verb] as StoreAndModel<Call>;
