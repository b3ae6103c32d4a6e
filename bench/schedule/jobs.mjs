// Jobs of the bench, created directly in the store, because only their timers are measured.
import { createJobRequest } from '@yardmaster/protocol';
import { ANY_SPACE, ackJob, createJob, failJob, getJob, pollJobs } from '@yardmaster/store';

/** Maximum number of concurrent calls. */
const AT_ONCE = 200;

/** Call a function for each item, several at a time. @returns results in order */
export async function each(items, act) {
  const results = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await act(items[at], at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

const request = (fields) => createJobRequest.parse({ name: 'work', ...fields });
const numbers = (count) => Array.from({ length: count }, (_, n) => n);

/** Create scheduled jobs. @param fieldsOf returns the fields of the nth job @returns their IDs */
export async function createScheduled(store, { spaceOf, count, fieldsOf }) {
  const jobs = await each(numbers(count), (n) => createJob(store, spaceOf(n), request(fieldsOf(n))));
  return jobs.map(({ job }) => job.id);
}

/** Create jobs and start them. @returns their IDs */
export async function createRunning(store, { spaceOf, count, fields }) {
  const created = await each(numbers(count), (n) => createJob(store, spaceOf(n), request(fields)));
  const jobs = created.map(({ job }) => job);
  const spaces = [...new Set(jobs.map(({ spaceId }) => spaceId))];
  await each(spaces, async (space) => {
    while ((await pollJobs(store, space, { count: 50, names: [] })).jobs.length > 0);
  });
  await each(jobs, ({ id }) => ackJob(store, ANY_SPACE, id));
  return jobs.map(({ id }) => id);
}

/** Fail the attempts of jobs, each with its own delay. */
export const failLater = (store, ids, delayOf) =>
  each(ids, (id, n) => failJob(store, ANY_SPACE, id, { error: 'no', retryAfterSeconds: delayOf(n) }));

/** Read how late jobs became claimable, in ms, and how many did so never or more than once. */
export async function latenessOf(store, ids) {
  const lates = await each(ids, async (id) => {
    const { scheduledFor, events } = await getJob(store, ANY_SPACE, id);
    const ready = events.filter(({ type }) => type === 'ready');
    return ready.map(({ createdAt }) => Date.parse(createdAt) - Date.parse(scheduledFor));
  });
  const having = (isIt) => lates.filter(({ length }) => isIt(length)).length;
  return { lost: having((times) => times === 0), twice: having((times) => times > 1), late: lates.flat() };
}

/** Read how late running jobs timed out, in ms. */
export async function timeoutsOf(store, ids) {
  const lates = await each(ids, async (id) => {
    const { events, timeoutSeconds } = await getJob(store, ANY_SPACE, id);
    const at = (wanted) => Date.parse(events.find(({ type }) => type === wanted)?.createdAt);
    return at('retried') - at('acked') - timeoutSeconds * 1_000;
  });
  return lates;
}
