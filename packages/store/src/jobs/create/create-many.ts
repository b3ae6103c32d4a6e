import { type ErrorCode, type JobSummary, type Status, YardmasterError } from '@yardmaster/protocol';
import { keyedJobId, newJobId } from '../../keys.js';
import { onBulk, throwIfRefused } from '../../script/run-script.js';
import { notAfterOf, type Store } from '../../store.js';
import { isoOfOrder } from '../../time.js';
import { stateOf } from '../read/state.js';
import { createVerb, type PackedJob } from './create.js';
import { idempotencySecretOf } from './idempotency.js';

/** Maximum number of jobs per script, so that no other call waits long behind it. */
const JOBS_AT_ONCE = 100;

/** Tags per script, exceeded by at most one job: each tag has its own index. */
const TAGS_AT_ONCE = 200;

/** Maximum number of characters of fields per script, unless a single job has more. */
const CHARACTERS_AT_ONCE = 256 * 1_024;

/** Characters above which a script uses the bulk connection, so that no ack waits behind it. */
const BULK_CHARACTERS = 64 * 1_024;

/** How createJobs creates its jobs. */
export interface ManyOptions {
  /** Idempotency key of the call; null for none. */
  idempotencyKey: string | null;
  /** Run one script for these jobs when it is its turn. */
  inTurn: <T>(run: () => Promise<T>, jobs: readonly PackedJob[]) => Promise<T>;
}

/** Created or existing jobs, in the order of their requests. */
export interface ManyCreated {
  jobs: JobSummary[];
  /** Whether earlier calls with this idempotency key created all jobs. */
  isReplay: boolean;
  /** Number of requests that replaced that of a waiting job with the same unique key. */
  replaced: number;
}

/**
 * Create jobs in order, up to a hundred per script. Each job is treated as by createJob.
 *
 * @throws STORAGE_UNSAFE; IDEMPOTENCY_MISMATCH, SPACE_FULL, STORAGE_FULL, OVERLOADED, UNAVAILABLE. The last five have
 *   `stored` if some jobs already exist
 * @see docs/api/create.md#create-many-jobs
 */
export async function createJobs(
  store: Store,
  spaceId: string,
  packed: readonly PackedJob[],
  { idempotencyKey: key, inTurn }: ManyOptions,
): Promise<ManyCreated> {
  if (!store.known.isStorageSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const jobs: JobSummary[] = [];
  let [replayed, replaced] = [0, 0];
  try {
    const secret = key === null ? null : await idempotencySecretOf(store);
    const idOf = (i: number) => (secret === null ? newJobId(spaceId) : keyedJobId(secret, spaceId, key as string, i));
    for (const chunk of chunksOf(packed)) {
      const ids = chunk.map((_, i) => idOf(jobs.length + i));
      const created = await inTurn(() => createChunk(store, spaceId, chunk, ids), chunk);
      for (const [i, { reply, decode, sentAt }] of created.entries()) {
        throwIfRefused(store, reply, sentAt);
        const { name } = chunk[i] as PackedJob;
        const { before, isReplay, isReplaced, ...found } = foundIn(decode(reply), ids[i] as string);
        if (isReplaced) replaced++;
        if (isReplay) replayed++;
        else store.observer.changed({ from: before, to: found.status, ...(before === 'none' && { spaceId, name }) });
        const { id, status, order } = found;
        jobs.push({ id, spaceId, name, status, createdAt: isoOfOrder(order) });
      }
    }
  } catch (error) {
    throw partlyStored(error, jobs.length, key !== null);
  }
  return { jobs, isReplay: replayed === jobs.length, replaced };
}

/** Divide jobs into chunks of one script each. */
function* chunksOf(jobs: readonly PackedJob[]): Generator<PackedJob[]> {
  let chunk: PackedJob[] = [];
  let characters = 0;
  let tags = 0;
  for (const job of jobs) {
    const isFull = chunk.length === JOBS_AT_ONCE || tags >= TAGS_AT_ONCE;
    if (isFull || (chunk.length > 0 && characters + job.characters > CHARACTERS_AT_ONCE)) {
      yield chunk;
      chunk = [];
      characters = 0;
      tags = 0;
    }
    chunk.push(job);
    characters += job.characters;
    tags += job.tags;
  }
  if (chunk.length > 0) yield chunk;
}

/** Create jobs with one script. @returns the reply for each job, its decoder, and when the script was sent */
async function createChunk(store: Store, spaceId: string, jobs: PackedJob[], ids: string[]) {
  const isLarge = jobs.reduce((sum, { characters }) => sum + characters, 0) > BULK_CHARACTERS;
  // Each chunk awaits its own confirmation, because an error tells how many jobs are stored.
  const on = { ...(isLarge ? onBulk(store) : store), unconfirmed: null };
  const verbs = jobs.map((job, i) => createVerb(store, { spaceId, jobId: ids[i] as string, job, shown: ['state'] }));
  const place = { base: store.keys.baseOfSpace(spaceId), space: spaceId, notAfter: notAfterOf(store) };
  const sentAt = performance.now();
  const replies = await on.send(on, { ...place, verbs, stopsAtRefusal: true, jobs: jobs.length });
  return verbs.map(({ verb: { decode } }, i) => ({ reply: replies[i] as unknown[], decode, sentAt }));
}

type Reply = ReturnType<ReturnType<typeof createVerb>['verb']['decode']>;

/** Decode the reply for a job that was created with this ID, or that already existed. */
function foundIn(reply: Reply, newId: string) {
  switch (reply.outcome) {
    case 'CREATED': {
      const status: Status = reply.scheduledFor ? 'scheduled' : 'pending';
      return { id: newId, order: reply.order, status, before: 'none' as const, isReplay: false, isReplaced: false };
    }
    case 'NOT_UNIQUE':
      throw new YardmasterError('JOB_NOT_UNIQUE'); // A list of jobs cannot contain `reject`.
    default: {
      const { status, order } = stateOf(reply.values[0] as string);
      const id = reply.outcome === 'REPLAYED' ? newId : reply.id;
      // Only REPLACED changes a status.
      const isReplaced = reply.outcome === 'REPLACED';
      const before = isReplaced ? reply.before : status;
      return { id, order, status, before, isReplay: reply.outcome === 'REPLAYED', isReplaced };
    }
  }
}

/** Errors that can occur after some jobs are stored. The part of their messages after the `;` is then wrong. */
const PARTIAL: readonly ErrorCode[] = ['STORAGE_FULL', 'UNAVAILABLE', 'OVERLOADED', 'SPACE_FULL'];

/**
 * Return the error of a call that stored only its first jobs.
 *
 * @param stored number of jobs that exist; 0 to return the error unchanged
 * @param isKeyed whether the call has an idempotency key
 */
export function partlyStored(error: unknown, stored: number, isKeyed: boolean): unknown {
  if (stored === 0 || !(error instanceof YardmasterError)) return error;
  const { cause } = error;
  const options = cause === undefined ? {} : { cause };
  if (!PARTIAL.includes(error.code)) {
    return new YardmasterError(error.code, error.message, { ...error.extras, stored }, options);
  }
  const [reason] = error.message.split(';');
  // OVERLOADED means that nothing was done.
  const code = error.code === 'OVERLOADED' ? 'UNAVAILABLE' : error.code;
  const isUnknown = error.code === 'UNAVAILABLE' ? ', and the outcome of the others is unknown' : '';
  const next = isKeyed
    ? 'retry the request with the same Idempotency-Key'
    : 'retry only the others, or use an Idempotency-Key';
  return new YardmasterError(
    code,
    `${reason}; ${stored === 1 ? 'the first job is' : `the first ${stored} jobs are`} stored${isUnknown}; ${next}`,
    { stored },
    options,
  );
}
