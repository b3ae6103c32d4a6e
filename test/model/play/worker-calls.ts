import type { FailRequest, JsonValue, ReleaseRequest, Status } from '@yardmaster/protocol';
import * as store from '@yardmaster/store';
import type { Random } from '../../support/random.js';
import { beatOf, DELAYS, failureOf, jsonOf } from './values.js';

/** A call of a worker about its job. The model has it by the same name, in attempts.ts. */
export interface WorkerCall<Body> {
  /** How often it is called, compared with other verbs. */
  weight: number;
  /** The statuses from which it moves a job on. */
  on: readonly Status[];
  /** Draw its body. `isTimed` allows delays. */
  draw(random: Random, isTimed: boolean): Body;
  perform(at: store.Store, worker: store.Worker, job: string, body: Body): Promise<unknown>;
}

const workerCall = <Body>(call: WorkerCall<Body>) => call;

export const WORKER_CALLS = {
  ack: workerCall<unknown>({ weight: 10, on: ['delivered'], draw: () => ({}), perform: store.ackJob }),
  heartbeat: workerCall<{ beat: store.Heartbeat }>({
    weight: 14,
    on: ['running'],
    draw: (random) => ({ beat: beatOf(random) }),
    perform: (at, worker, job, { beat }) => store.heartbeatJob(at, worker, job, beat),
  }),
  complete: workerCall<{ result: JsonValue }>({
    weight: 8,
    on: ['running'],
    draw: (random) => ({ result: jsonOf(random) }),
    perform: (at, worker, job, { result }) => store.completeJob(at, worker, job, result),
  }),
  fail: workerCall<FailRequest>({
    weight: 12,
    on: ['running'],
    draw: (random, isTimed) => ({ error: random.of(['no', { why: [] }, {}]), ...failureOf(random, isTimed) }),
    perform: store.failJob,
  }),
  release: workerCall<ReleaseRequest>({
    weight: 5,
    on: ['delivered', 'running'],
    draw: (random, isTimed) => ({
      reason: random.of([null, 'stop "']),
      delaySeconds: isTimed && random.chance(0.4) ? random.of(DELAYS) : null,
    }),
    perform: store.releaseJob,
  }),
};

export type WorkerVerb = keyof typeof WORKER_CALLS;
export type BodyOf<V extends WorkerVerb> = (typeof WORKER_CALLS)[V] extends WorkerCall<infer Body> ? Body : never;

/** Return a value for each of these calls. */
export const forWorkerCalls = <T extends { [V in WorkerVerb]: unknown }>(make: (verb: WorkerVerb) => T[WorkerVerb]) =>
  Object.fromEntries((Object.keys(WORKER_CALLS) as WorkerVerb[]).map((verb) => [verb, make(verb)])) as T;
