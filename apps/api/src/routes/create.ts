import type { IncomingHttpHeaders } from 'node:http';
import {
  type CreateJobRequest,
  createdJobs,
  createJobsRequest,
  type FaultDetail,
  isTerminal,
  type Job,
  type JobSummary,
  type KnownJob,
  LIMITS,
  NO_EVENTS,
  TERMINAL_STATUSES,
  YardmasterError,
} from '@yardmaster/protocol';
import { authorize } from '@yardmaster/server';
import { createJob, createJobs, type PackedJob, packJob, withSpaceDefaults } from '@yardmaster/store';
import { type Call, Reply } from '../call.js';
import { Items, type ListOptions } from '../input/one-or-many.js';
import { PER_BYTE, PER_JOB, PER_TAG } from '../limits/units.js';
import { LongPoll } from '../waiting/long-poll.js';
import { PENDING, SUMMARIES } from './examples.js';
import type { Slot } from './route.js';

/** Query and body of a create: one job, or the packed jobs of a list. */
export interface CreateInput<B> {
  query: { waitSeconds: number };
  body: B;
}
export type Created = Job | KnownJob;

/** Each step of a list takes its own slot, so that other calls can run between the steps. */
export const slotOfCreate = ({ body }: CreateInput<unknown>): Slot => (body instanceof Items ? 'none' : 'normal');

/** Create a job or a list of jobs; with COMPAT=emit, the response has the URLs of their streams. */
export async function create(
  call: Call<CreateInput<CreateJobRequest | Items<PackedJob>>>,
): Promise<Reply<Created | JobSummary[]>> {
  const { body, query } = call.input;
  return body instanceof Items
    ? createMany(call, body.items, query.waitSeconds)
    : createOne(call, body, query.waitSeconds);
}

async function createOne(call: Call, request: CreateJobRequest, waitSeconds: number): Promise<Reply<Created>> {
  const waits = waitSeconds === 0 ? null : new LongPoll(call, waitSeconds);
  if (waits?.hasRoom === false) throw new YardmasterError('TOO_MANY_WAITERS');
  const { store, spaceId, header: idempotencyKey, caller } = call;
  const { outcome, job } = await createJob(store, spaceId, withDefaults(request, call), idempotencyKey, request);
  const more = outcome === 'replayed' ? { headers: REPLAYED } : outcome === 'created' ? {} : { status: 200 };
  const { id, name, status, createdAt } = job;
  const isShown = outcome === 'created' || outcome === 'replayed' || caller.grants.has('jobs:read');
  const act = outcome === 'replaced' ? { jobId: id } : null;
  const reply = new Reply(withStreamUrl(call, isShown ? job : { id, name, status, createdAt }), { ...more, act });
  // If other calls have since taken the last room, return the job right away: a refusal would claim that nothing was done.
  if (!waits?.hasRoom) return reply;
  return new Reply(reply.body, {
    ...more,
    act,
    wait: async () => {
      const ended = await waits.forEnd(id, { range: NO_EVENTS, hasEnded: isTerminal(status) });
      const { events: _, ...shown } = ended;
      return withStreamUrl(call, shown);
    },
  });
}

/** Check that a caller may wait for a job to end. Requires the scope jobs:read, because the response shows the outcome. */
export function mayWait({ waitSeconds }: { waitSeconds: number }, { caller }: Call): void {
  if (waitSeconds > 0) authorize(caller, ['jobs:read']);
}

/** Apply the defaults of the space to a request, and with COMPAT=emit those of emit.run. */
function withDefaults(request: CreateJobRequest, { store, spaceId, deps }: Call): CreateJobRequest {
  const ofSpace = withSpaceDefaults(request, store.known.spaces.of(spaceId));
  return deps.isEmit ? withEmitDefaults(ofSpace) : ofSpace;
}

/** Headers of the response to a repeated call. */
export const REPLAYED = { 'idempotent-replayed': 'true' };

/** How Create Job handles a list of jobs. */
export const JOB_LIST: ListOptions<CreateJobRequest, PackedJob> = {
  max: LIMITS.createMax,
  what: 'job',
  schema: createJobsRequest,
  examples: { 'Several jobs': [{ name: 'resize', payload: PENDING.payload }, { name: 'crop' }] },
  response: createdJobs,
  responses: { 'Created jobs': SUMMARIES },
  faultsOf,
  pack,
};

/** Refuse `reject` in a list: a call can't be rejected for one of its jobs, because earlier ones already exist. */
function faultsOf({ unique }: CreateJobRequest): FaultDetail[] {
  if (unique?.onConflict !== 'reject') return [];
  return [{ path: 'unique.onConflict', message: 'must be return or replace in a list of jobs' }];
}

function pack(request: CreateJobRequest, call: Call): PackedJob {
  return packJob(call.spaceId, withDefaults(request, call), call.header === null ? null : request);
}

/** How much longer than other calls a call with a list may take. Each of its steps has the time of one call. */
const LIST_TIMES = 5;

const unitsOf = ({ tags, characters }: PackedJob) => PER_JOB.created + PER_TAG * tags + PER_BYTE * characters;

async function createMany(call: Call, jobs: PackedJob[], waitSeconds: number): Promise<Reply<JobSummary[]>> {
  if (waitSeconds > 0) throw new YardmasterError('INVALID_REQUEST', 'waitSeconds must be absent with a list of jobs');
  const { store, spaceId, header: idempotencyKey, deps } = call;
  const endsAt = performance.now() + LIST_TIMES * deps.budgetMs;
  const inTurn = <T>(run: () => Promise<T>, chunk: readonly PackedJob[]) => {
    const withinMs = Math.min(deps.budgetMs, endsAt - performance.now());
    const units = chunk.reduce((sum, job) => sum + unitsOf(job), 0);
    return deps.redisQueue.withSlot({ isUrgent: false, tenant: call.tenant, units, withinMs, run });
  };
  const created = await createJobs(store, spaceId, jobs, { idempotencyKey, inTurn });
  const body = created.jobs.map((job) => withStreamUrl(call, job));
  const act = created.replaced > 0 ? { details: { jobs: created.replaced } } : null;
  return new Reply(body, { ...(created.isReplay && { headers: REPLAYED }), act });
}

// COMPAT=emit, for clients of emit.run.

/** A host as in URLs: a name or an address, with an optional port. Node accepts other text as well. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

/** Add the URL of its stream to a job with COMPAT=emit. */
export const withStreamUrl = <J extends { id: string }>({ deps, req }: Call, job: J): J =>
  deps.isEmit ? { ...job, realtimeUrl: streamUrlFor(req.headers, job.id) } : job;

/**
 * Return the URL of a job's stream for the client of a request: at the host that it called, with `wss` if
 * X-Forwarded-Proto indicates TLS. Without a host, return only the path.
 */
function streamUrlFor({ host, 'x-forwarded-proto': proto }: IncomingHttpHeaders, jobId: string): string {
  const path = `/api/v1/realtime/${jobId}`;
  if (host === undefined || !HOST.test(host)) return path;
  // Each proxy on the way may add a value; the first is that of the client.
  const isSecure = /^\s*(?:https|wss)\s*(?:,|$)/i.test(String(proto ?? ''));
  return `${isSecure ? 'wss' : 'ws'}://${host}${path}`;
}

/** Apply the default of emit.run: every outcome triggers the callback. */
export const withEmitDefaults = (request: CreateJobRequest): CreateJobRequest => ({
  ...request,
  callbackOn: request.callbackOn ?? [...TERMINAL_STATUSES],
});
