import type { CreateJobRequest, JsonObject, JsonValue, LogsQuery, NewLog } from '@yardmaster/protocol';
import * as store from '@yardmaster/store';
import * as attempts from '../attempts.js';
import * as callbacks from '../callbacks.js';
import { bringBack, due, expire, markStep } from '../deadlines.js';
import { claim, create, poll } from '../handing-out.js';
import * as logs from '../logs.js';
import * as reading from '../reading.js';
import type { World } from '../world.js';

interface OfJob {
  /** Id of the job. */
  job: string;
  /** The one space that the caller may touch; null for any. */
  caller: string | null;
}

/** What each verb of the store is asked. */
export interface Asked {
  create: { label: string; space: string; request: CreateJobRequest };
  poll: { space: string; count: number; names: string[] };
  claim: OfJob;
  ack: OfJob;
  heartbeat: OfJob & { beat: store.Heartbeat };
  complete: OfJob & { result: JsonValue };
  fail: OfJob & { error: string | JsonObject };
  kill: OfJob & { reason: string | null };
  expire: { partition: string };
  markStep: { partition: string; lookedAt: number };
  bringBack: { partition: string };
  relay: { partition: string };
  begin: { job: string; series: number };
  record: callbacks.Outcome;
  redeliver: OfJob;
  append: OfJob & { logs: NewLog[] };
  readLogs: OfJob & { query: LogsQuery };
  get: OfJob;
  progress: OfJob;
  snapshot: OfJob;
  since: { job: string; fromSeq: number };
  list: reading.PageOfJobs;
  stats: { space: string; limit: number; names: string[] };
  due: Record<never, never>;
}

export type Verb = keyof Asked;

export type Call<V extends Verb = Verb> = { [K in V]: { verb: K } & Asked[K] }[V];

interface Sides<A> {
  /** What the store says. */
  perform(at: store.Store, asked: A): Promise<unknown>;
  /** What the model says, and what it makes of its world. `told` is the store's answer: an id is its to choose. */
  foretell(world: World, asked: A, told: unknown): unknown;
}

const of = ({ caller }: OfJob): store.Caller => ({ spaceId: caller });

const VERBS: { [V in Verb]: Sides<Asked[V]> } = {
  create: {
    perform: (at, { space, request }) => store.createJob(at, space, request),
    foretell: (world, asked, told) => create(world, { ...asked, id: (told as { id: string }).id }),
  },
  poll: { perform: (at, { space, ...request }) => store.pollJobs(at, space, request), foretell: poll },
  claim: { perform: (at, it) => store.claimJob(at, of(it), it.job), foretell: claim },
  ack: { perform: (at, it) => store.ackJob(at, of(it), it.job), foretell: attempts.ack },
  heartbeat: {
    perform: (at, it) => store.heartbeatJob(at, of(it), it.job, it.beat),
    foretell: attempts.heartbeat,
  },
  complete: { perform: (at, it) => store.completeJob(at, of(it), it.job, it.result), foretell: attempts.complete },
  fail: { perform: (at, it) => store.failJob(at, of(it), it.job, it.error), foretell: attempts.fail },
  kill: { perform: (at, it) => store.killJob(at, of(it), it.job, it.reason), foretell: attempts.kill },
  expire: {
    perform: async (at, { partition }) => store.expireDue(at, partition, await store.redisNow(at)),
    foretell: expire,
  },
  markStep: { perform: (at, it) => store.markStep(at, it.partition, it.lookedAt), foretell: markStep },
  bringBack: { perform: (at, { partition }) => store.restoreDeadlines(at, partition), foretell: bringBack },
  relay: { perform: (at, { partition }) => store.relayCallbacks(at, partition), foretell: callbacks.relay },
  begin: {
    perform: (at, { job, series }) => store.beginCallback(at, { jobId: job, series }),
    foretell: callbacks.begin,
  },
  record: {
    perform: (at, { job, series, ...outcome }) => store.recordCallback(at, { jobId: job, series }, outcome),
    foretell: callbacks.record,
  },
  redeliver: { perform: (at, it) => store.redeliverCallback(at, of(it), it.job), foretell: callbacks.redeliver },
  append: {
    perform: (at, it) => store.appendLogs(at, of(it), it.job, it.logs.map(store.packLog)),
    foretell: logs.append,
  },
  readLogs: { perform: (at, it) => store.readLogs(at, of(it), it.job, it.query), foretell: logs.read },
  get: { perform: (at, it) => store.getJob(at, of(it), it.job), foretell: reading.get },
  progress: { perform: (at, it) => store.getProgress(at, of(it), it.job), foretell: reading.progress },
  snapshot: { perform: (at, it) => store.readSnapshot(at, of(it), it.job), foretell: reading.snapshot },
  since: { perform: (at, { job, fromSeq }) => store.readSince(at, job, fromSeq), foretell: reading.since },
  list: {
    perform: (at, { space, ...query }) => store.listJobs(at, store.ANY_SPACE, space, query),
    foretell: reading.list,
  },
  stats: { perform: (at, { space, ...query }) => store.getStats(at, space, query), foretell: reading.stats },
  due: {
    perform: async (at) => {
      const { clocks, ...found } = await store.findDue(at);
      return found;
    },
    foretell: due,
  },
};

/** The two sides of a call: those of its verb, which the type of the table cannot say. */
export const sidesOf = ({ verb }: Call) => VERBS[verb] as Sides<Call>;
