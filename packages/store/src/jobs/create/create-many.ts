import { type CreateJobRequest, type JobSummary, type Status, YardmasterError } from '@yardmaster/protocol';
import type { StatusOrNone } from '../../call.js';
import { keyedJobId, newJobId } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { create_many, create_many_full } from '../../script/scripts.generated.js';
import { notAfterOf, onBulk, type Store } from '../../store.js';
import { isoOfOrder } from '../../time.js';
import { optionsOf } from '../read/state.js';
import { delayOf } from '../timing.js';
import { fieldsOf, isPlain } from './create.js';
import { fingerprintOf, idempotencySecretOf } from './idempotency.js';
import { partlyStored } from './partly-stored.js';

/** Jobs that one script creates, so that no other call waits long behind it. */
const JOBS_AT_ONCE = 100;

/** Tags of their jobs after which no further job is added: each has an index of its own. */
const TAGS_AT_ONCE = 200;

/** Characters of their fields after which no further job is added to a script. */
const CHARACTERS_AT_ONCE = 256 * 1_024;

/** Characters of fields above which a script goes to the bulk connection, where no ack waits behind it. */
const BULK_CHARACTERS = 64 * 1_024;

/** A job to be created, as text: parsed JSON takes up to forty times the memory of its text. */
export interface PackedJob {
  name: string;
  /** Names and values of the fields of its record, in turn. */
  fields: readonly (string | number)[];
  characters: number;
  tags: number;
  /** Of the request; '' without an idempotency key. */
  fingerprint: string;
  /** End of its state, see addJob in Lua. */
  options: string;
  /** Whether create_many.lua can create it. */
  isPlain: boolean;
  /** Argument of create_full.lua. */
  delay: string | number;
}

/**
 * Write a request as createJobs takes it.
 *
 * @param request one without `reject` in `unique`
 * @param body the request as its caller sent it, before defaults of the service; null without an idempotency key
 */
export function packJob(spaceId: string, request: CreateJobRequest, body: CreateJobRequest | null): PackedJob {
  const fields = fieldsOf(request);
  return {
    name: request.name,
    fields,
    characters: fields.reduce<number>((sum, field) => sum + String(field).length, request.name.length),
    tags: request.tags?.length ?? 0,
    fingerprint: body === null ? '' : fingerprintOf(spaceId, body),
    options: optionsOf(request, fields),
    isPlain: isPlain(request),
    delay: delayOf(request),
  };
}

/** How createJobs creates its jobs. */
export interface ManyOptions {
  /** Null for none. */
  idempotencyKey: string | null;
  /** Calls a function that runs one script, once it is its turn. */
  inTurn: <T>(run: () => Promise<T>) => Promise<T>;
}

/** Jobs that were created or found, in the order of their requests. */
export interface ManyCreated {
  jobs: JobSummary[];
  /** Whether earlier calls with this idempotency key created all of them. */
  isReplay: boolean;
}

/**
 * Create jobs in order, at most a hundred with each script. The outcome of each job is that of createFullJob.
 *
 * @throws STORAGE_UNSAFE; IDEMPOTENCY_MISMATCH, SPACE_FULL, STORAGE_FULL, OVERLOADED, UNAVAILABLE, and these with `stored` when some
 *   jobs were created or found before
 * @see docs/api.md#several-jobs
 */
export async function createJobs(
  store: Store,
  spaceId: string,
  packed: readonly PackedJob[],
  { idempotencyKey: key, inTurn }: ManyOptions,
): Promise<ManyCreated> {
  if (!store.storage.isSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const jobs: JobSummary[] = [];
  let replayed = 0;
  try {
    const secret = key === null ? null : await idempotencySecretOf(store);
    const idOf = (i: number) => (secret === null ? newJobId(spaceId) : keyedJobId(secret, spaceId, key as string, i));
    for (const chunk of chunksOf(packed)) {
      const ids = chunk.map((_, i) => idOf(jobs.length + i));
      const lines = await inTurn(() => createChunk(store, spaceId, chunk, ids));
      for (const [i, line] of lines.entries()) {
        throwIfRefused(line);
        const { name } = chunk[i] as PackedJob;
        const { before, isReplay, ...found } = readLine(line, ids[i] as string);
        if (isReplay) replayed++;
        else reportCreated(store, { spaceId, name, before, after: found.status });
        const { id, status, order } = found;
        jobs.push({ id, spaceId, name, status, createdAt: isoOfOrder(order) });
      }
    }
  } catch (error) {
    throw partlyStored(error, jobs.length, key !== null);
  }
  return { jobs, isReplay: replayed === jobs.length };
}

/** @throws IDEMPOTENCY_MISMATCH, SPACE_FULL when the line of a job says so */
function throwIfRefused(line: string): void {
  if (line === 'IDEMPOTENCY_MISMATCH' || line === 'SPACE_FULL') throw new YardmasterError(line);
}

/** Report a job that was created or replaced to the observer, and count a new one. */
function reportCreated(
  { observer, tally }: Store,
  { spaceId, name, before, after }: { spaceId: string; name: string; before: StatusOrNone; after: Status },
): void {
  if (before !== after) observer.moved(before, after, 1);
  if (before === 'none') tally.counted(spaceId, name, 'created');
}

/** Divide jobs into portions for one script each. */
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

/** Create jobs with one script. @returns a line for each, see create_many.lua and create_many_full.lua */
async function createChunk(store: Store, spaceId: string, jobs: PackedJob[], ids: string[]): Promise<string[]> {
  const isLarge = jobs.reduce((sum, { characters }) => sum + characters, 0) > BULK_CHARACTERS;
  const on = isLarge ? onBulk(store) : store;
  const keys = { queue: store.keys.queue(spaceId) };
  const shared = { base: store.keys.baseOfSpace(spaceId), space: spaceId, notAfter: notAfterOf(store) };
  const isKeyed = jobs[0]?.fingerprint !== '';
  const maxPending = store.spaceSettings.of(spaceId)?.maxPending ?? '';
  if (maxPending === '' && jobs.every((job) => job.isPlain)) {
    const rest = jobs.flatMap(({ name, fields, fingerprint, options }, i) => {
      const all = isKeyed ? ['fingerprint', fingerprint, ...fields] : fields;
      return [ids[i] as string, name, options, all.length, ...all];
    });
    const args = { ...shared, isKeyed: isKeyed ? '1' : '' };
    return (await runScript(on, create_many, { keys, args, rest })).outcomes.split('\n');
  }
  const rest = jobs.flatMap(({ name, fields, fingerprint, delay, options }, i) => {
    return [ids[i] as string, name, fingerprint, delay, options, fields.length, ...fields];
  });
  const args = { ...shared, eventsPerJob: store.settings.eventsPerJob, maxPending };
  return (await runScript(on, create_many_full, { keys, args, rest })).outcomes.split('\n');
}

/** Read the line of a job that was created with this id or found. */
function readLine(line: string, newId: string) {
  const [word = '', id = newId, status, order = word, before] = line.split(' ');
  if (status !== undefined) {
    // Another outcome than REPLACED changed no status.
    return { id, order, status: status as Status, before: (before || status) as Status, isReplay: word === 'REPLAYED' };
  }
  const isScheduled = word.endsWith('+');
  return {
    id,
    order: isScheduled ? word.slice(0, -1) : word,
    status: isScheduled ? ('scheduled' as const) : ('pending' as const),
    before: 'none' as const,
    isReplay: false,
  };
}
