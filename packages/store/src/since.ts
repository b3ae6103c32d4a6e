import { type PublishedEvent, type Status, statusAfter } from '@yardmaster/protocol';
import { eventsOf, parseJson } from './record.js';
import { runScript } from './script.js';
import { since } from './scripts.generated.js';
import { ANY_SPACE, onBulk, type Store } from './store.js';
import { worksOn } from './works-on.js';

/** Entries of history read at once: 6 MB when each is as large as may be, which takes Redis some 40 ms. */
const PORTION = 100;

/** An event of the history, as it was published when it happened. */
export type PastEvent = PublishedEvent & { seq: number };

/**
 * Read what has happened to a job since an event: at most 100 events, oldest first, as they were published.
 *
 * @param fromSeq seq of the first to read; the oldest that is left when that one is dropped
 * @returns the events, and the seq of the last there is, below `fromSeq - 1` when Redis has lost what it had
 * @throws JOB_NOT_FOUND, UNAVAILABLE
 */
export async function readSince(store: Store, jobId: string, fromSeq: number) {
  const { keys } = worksOn(store, ANY_SPACE, jobId);
  const [, firstSeq, entries, lastSeq, status, jobName, spaceId, result] = (await runScript(onBulk(store), since, {
    keys,
    args: { fromSeq, portion: PORTION },
  })) as [string, number, string[], number, Status, string, string, string | null];
  const job = { id: jobId, spaceId, result: parseJson(result) };
  const events = eventsOf(job, Number(firstSeq), entries).map(
    ({ type, data, createdAt }, i): PastEvent => ({
      seq: Number(firstSeq) + i,
      jobId,
      jobName,
      spaceId,
      type,
      // A type that moves nothing, such as a callback's, comes after the end.
      status: statusAfter(type) ?? status,
      data,
      at: Date.parse(createdAt),
    }),
  );
  return { events, lastSeq: Number(lastSeq) };
}
