import {
  type CreateJobRequest,
  createdJobs,
  createJobsRequest,
  type FaultDetail,
  isTerminal,
  type Job,
  type JobDefaults,
  type JobSummary,
  type KnownJob,
  LIMITS,
  YardmasterError,
} from '@yardmaster/protocol';
import { createJob, createJobs, type PackedJob, packJob } from '@yardmaster/store';
import type { ListRow } from '../body/list-row.js';
import type { CallWaits } from '../waiting/call-waits.js';
import { withEmitDefaults } from './emit.js';
import { PENDING, SUMMARIES } from './examples.js';
import type { Call } from './route.js';

/** Create a job; with COMPAT=emit, the response has the URL of its stream. */
export function create(call: Call<CreateJobRequest>): Promise<Job | KnownJob> {
  const { streamUrlOf, waits } = call;
  if (waits?.hasRoom === false) throw new YardmasterError('TOO_MANY_WAITERS');
  const created = createOrFind(call, withDefaults(call.input, call));
  if (streamUrlOf === null) return created;
  return created.then((job) => ({ ...job, realtimeUrl: streamUrlOf(job.id) }));
}

/**
 * Wait for the end of a job that was created or found. `waitsInQuery` has checked that the caller may read it; so it gets
 * the result, too.
 * When others have taken the last room in the meantime, it gets the job at once, because a refusal would say that nothing was
 * done.
 */
export function waitForEnd(
  { streamUrlOf }: Call,
  { id, status }: Job | KnownJob,
  waits: CallWaits,
): Promise<Job> | null {
  if (!waits.hasRoom) return null;
  const ended = waits.forEnd(id, isTerminal(status));
  return ended.then(({ events: _events, ...job }) =>
    streamUrlOf === null ? job : { ...job, realtimeUrl: streamUrlOf(id) },
  );
}

/** Return a request with the defaults of its space, and with COMPAT=emit with those of emit.run. */
function withDefaults(request: CreateJobRequest, { store, spaceId, streamUrlOf }: Call): CreateJobRequest {
  const { defaults } = store.spaceSettings.of(spaceId) ?? {};
  const ofSpace = defaults === undefined ? request : withSpaceDefaults(request, defaults);
  return streamUrlOf === null ? ofSpace : withEmitDefaults(ofSpace);
}

/** Return a request in which fields that it leaves out, or that are null, are those of its space. */
const withSpaceDefaults = (request: CreateJobRequest, defaults: JobDefaults): CreateJobRequest => ({
  ...request,
  maxRetries: request.maxRetries ?? defaults.maxRetries,
  timeoutSeconds: request.timeoutSeconds ?? defaults.timeoutSeconds,
  retry: request.retry ?? defaults.retry ?? null,
  maxRunSeconds: request.maxRunSeconds ?? defaults.maxRunSeconds ?? null,
});

/** Create a job, or respond with the job that an earlier call or another producer has created. */
async function createOrFind(call: Call<CreateJobRequest>, request: CreateJobRequest): Promise<Job | KnownJob> {
  const { store, caller, spaceId, input, header: idempotencyKey } = call;
  const { outcome, job } = await createJob(store, spaceId, request, idempotencyKey, input);
  if (outcome === 'created') return job;
  if (outcome === 'replayed') {
    call.head = { headers: REPLAYED };
    return job;
  }
  call.head = { status: 200 };
  if (caller.grants.has('jobs:read')) return job;
  const { id, name, status, createdAt } = job;
  return { id, name, status, createdAt };
}

/** Headers of the response to a call that repeats an earlier one. */
export const REPLAYED = { 'idempotent-replayed': 'true' };

/** How Create Job serves a list of jobs. */
export const JOB_LIST: ListRow<CreateJobRequest, PackedJob, JobSummary[]> = {
  max: LIMITS.createMax,
  what: 'job',
  body: createJobsRequest,
  response: createdJobs,
  examples: {
    request: { 'Several jobs': [{ name: 'resize', payload: PENDING.payload }, { name: 'crop' }] },
    response: { 'The jobs': SUMMARIES },
  },
  faultsOf,
  pack,
  handler: createMany,
};

/** A call that creates several jobs cannot be refused for one of them, because those before it exist by then. */
function faultsOf({ unique }: CreateJobRequest): FaultDetail[] {
  if (unique?.onConflict !== 'reject') return [];
  return [{ path: 'unique.onConflict', message: 'must be return or replace in a list of jobs' }];
}

function pack(request: CreateJobRequest, call: Call): PackedJob {
  return packJob(call.spaceId, withDefaults(request, call), call.header === null ? null : request);
}

async function createMany(call: Call<PackedJob[]>): Promise<JobSummary[]> {
  const { store, spaceId, input, header: idempotencyKey, inTurn = (run) => run(), streamUrlOf, waits } = call;
  if (waits !== null) throw new YardmasterError('INVALID_REQUEST', 'waitSeconds must be absent with a list of jobs');
  const { jobs, isReplay } = await createJobs(store, spaceId, input, { idempotencyKey, inTurn });
  if (isReplay) call.head = { headers: REPLAYED };
  return streamUrlOf === null ? jobs : jobs.map((job) => ({ ...job, realtimeUrl: streamUrlOf(job.id) }));
}
