import type { ClaimedJob, PollRequest } from '@yardmaster/protocol';
import { pollJobs, type Store } from '@yardmaster/store';
import type { CallWaits } from '../waiting/call-waits.js';
import type { Call } from './route.js';

/** Response of Poll for Jobs. */
export interface Polled {
  jobs: ClaimedJob[];
}

/** Poll for the first time. */
export async function pollFirst(call: Call<PollRequest>): Promise<Polled> {
  const { store, spaceId, input, waits } = call;
  return waits?.needsNoFirstPoll(spaceId, input.names) ? { jobs: [] } : poll(store, call);
}

/** Poll once. */
async function poll(store: Store, { spaceId, input }: Pick<Call<PollRequest>, 'spaceId' | 'input'>): Promise<Polled> {
  return { jobs: await pollJobs(store, spaceId, input) };
}

/** Wait for jobs after a first poll, unless it has something to report. */
export function waitForJobs(call: Call<PollRequest>, first: Polled, waits: CallWaits): Promise<Polled> | null {
  if (first.jobs.length > 0) {
    waits.releaseUnlessSent(first.jobs);
    return null;
  }
  const { spaceId, input } = call;
  const again = async (store: Store) => (await poll(store, { spaceId, input })).jobs;
  const waiting = waits.forJobs({ spaceId, names: input.names, count: input.count, poll: again });
  return waiting.then((jobs) => ({ ...first, jobs }));
}
