// What the jobs of a run must look like at its end.
import { until } from '../conformance/service.mjs';

/** Read all jobs of a space that have one of some ids, some at a time. */
export async function jobsOf(service, ids) {
  const jobs = [];
  for (let from = 0; from < ids.length; from += 50)
    jobs.push(...(await Promise.all(ids.slice(from, from + 50).map((id) => service.call('GET', `/jobs/${id}`)))));
  return jobs;
}

/** Wait until no job of a space is left to do. */
export const untilDone = (service, space) =>
  until(
    async () => {
      const { jobs } = await service.call('GET', `/spaces/${space}/stats`);
      return jobs.pending + jobs.delivered + jobs.running + (jobs.scheduled ?? 0) === 0;
    },
    `all jobs of ${space} end`,
    300_000,
  );

/** Return sentences about jobs that did not complete in their first attempt. */
export function faultsOf(jobs) {
  const faults = jobs.flatMap(({ id, status, attemptNumber }) =>
    status === 'completed' && attemptNumber === 1 ? [] : [`${id} is ${status} after ${attemptNumber} attempts`],
  );
  return faults.length > 20 ? [...faults.slice(0, 20), `… and ${faults.length - 20} more`] : faults;
}

/** Count the events of a type in the histories of jobs. */
export const countEvents = (jobs, wanted) =>
  jobs.reduce((sum, { events }) => sum + events.filter(({ type }) => type === wanted).length, 0);
