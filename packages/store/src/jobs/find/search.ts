import type { JobFilter, ListedJob } from '@yardmaster/protocol';
import { call } from '../../call.js';
import { runScript } from '../../script/run-script.js';
import { find } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';
import { type JobRecord, LISTED_FIELDS, listedJobOf, recordOfValues } from '../read/record.js';
import { stateOf } from '../read/state.js';
import {
  type Found,
  findInputs,
  matchesText,
  type PortionQuery,
  reachedIn,
  TEXT_FIELDS,
  tagsToMatch,
} from './filter.js';

/** Maximum number of records whose texts are read at once. */
const RECORDS_AT_ONCE = 100;

/** Bytes of payloads and results that are read at once, exceeded by at most one record. */
const BYTES_AT_ONCE = 256 * 1_024;

/** A job that may contain the text. */
interface Candidate {
  id: string;
  /** Size of its payload and result. */
  bytes: number;
}

/**
 * Read a portion of a text search. The text is matched here and not in Redis, whose time all jobs share: a script finds
 * the jobs that pass the rest of the filter, and single commands read their texts. These cost Redis a quarter of what a
 * script would, and other calls can run in between.
 */
export async function searchPortion(
  store: Store,
  filter: JobFilter,
  { spaceId, places, order, limit, entries }: PortionQuery,
): Promise<Found> {
  const { keys, args } = findInputs(store, spaceId, filter, places);
  const reply = await runScript(store, find, {
    keys,
    args: { ...args, order, most: entries },
    rest: filter.names,
  });
  const jobs: ListedJob[] = [];
  const reached = reachedIn(reply.reached);
  const candidates = candidatesIn(reply.found);
  for await (const { job, place } of jobsAmong(store, candidates, filter)) {
    jobs.push(job);
    if (jobs.length === limit) return { jobs, reached: job.id === candidates.at(-1)?.id ? reached : place };
  }
  return { jobs, reached };
}

/** Read the candidates that contain the text, in order. */
async function* jobsAmong(store: Store, candidates: readonly Candidate[], filter: JobFilter) {
  const contains = matchesText(filter.q as string);
  for (const chunk of chunksOf(candidates)) {
    const texts = await readRecords(store, chunk, TEXT_FIELDS);
    const matching = chunk.filter((_, i) => contains(texts[i] as JobRecord));
    const records = await readRecords(store, matching, LISTED_FIELDS);
    for (const [i, { id }] of matching.entries()) {
      const record = records[i] as JobRecord;
      // The job may have changed since it was found, or be gone.
      if (passes(record, filter) && contains(record))
        yield { job: listedJobOf(id, record), place: Number(stateOf(record.state as string).order) };
    }
  }
}

/** Check a record against the parts of a filter whose values can change. The name of a job cannot. */
function passes({ state, tags }: JobRecord, filter: JobFilter): boolean {
  const own = tags?.split('\n') ?? [];
  return (
    typeof state === 'string' &&
    (filter.statuses.length === 0 || filter.statuses.includes(stateOf(state).status)) &&
    tagsToMatch(filter).every((tag) => own.includes(tag))
  );
}

function candidatesIn(found: readonly string[]): Candidate[] {
  const candidates: Candidate[] = [];
  for (let i = 0; i < found.length; i += 2) candidates.push({ id: found[i] as string, bytes: Number(found[i + 1]) });
  return candidates;
}

function* chunksOf(candidates: readonly Candidate[]): Generator<Candidate[]> {
  let chunk: Candidate[] = [];
  let bytes = 0;
  for (const candidate of candidates) {
    chunk.push(candidate);
    bytes += candidate.bytes;
    if (chunk.length < RECORDS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}

/** Read fields of some records; all null for a job that is gone. */
async function readRecords(
  store: Store,
  jobs: readonly Candidate[],
  fields: readonly (keyof JobRecord)[],
): Promise<JobRecord[]> {
  const { redis, keys } = store;
  const replies = await call(store, 'hmget', Promise.all(jobs.map(({ id }) => redis.hmget(keys.job(id), ...fields))));
  return replies.map((values) => recordOfValues(fields, values));
}
