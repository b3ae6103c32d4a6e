import {
  ACTION_SCOPES,
  type Outcome,
  type PolledJobs,
  type PollRequest,
  type Scope,
  type Settled,
  type YardmasterError,
} from '@yardmaster/protocol';
import { authorize } from '@yardmaster/server';
import { pollJobs, type Store, takeTurn } from '@yardmaster/store';
import { requireTokens } from '../required-token.js';
import type { CallWaits } from '../waiting/call-waits.js';
import type { Call } from './route.js';

/** Settle outcomes, if the call has any, and poll for the first time. */
export async function pollFirst(call: Call<PollRequest>): Promise<PolledJobs> {
  const { store, spaceId, input, caller, waits } = call;
  if (input.autoAck) authorize(caller, ['jobs:ack']);
  const { settle } = input;
  if (settle !== undefined && settle.length > 0) {
    requireTokens(call, settle, 'settle');
    const turn = { settle, poll: input, refusalOf: refusalFor(call) };
    const { isMore, ...response } = await takeTurn(store, spaceId, turn);
    call.isMore = isMore;
    return response;
  }
  const isEmpty = waits?.needsNoFirstPoll(spaceId, input.names);
  const { jobs, isMore } = isEmpty ? { jobs: [], isMore: false } : await pollJobs(store, spaceId, input);
  call.isMore = isMore;
  return settle === undefined ? { jobs } : { jobs, settled: [] };
}

/** Wait for jobs after a first poll, unless it has something to report. Without a wait, continue behind paused jobs. */
export function waitForJobs(call: Call<PollRequest>, first: PolledJobs, waits: CallWaits): Promise<PolledJobs> | null {
  if (call.isMore && !waits.mayWait) return goOn(call, first, waits);
  if (first.jobs.length > 0) waits.releaseUnlessSent(first.jobs);
  if (!waits.mayWait || first.jobs.length > 0 || first.settled?.some(({ success }) => !success)) return null;
  const hasSettled = first.settled !== undefined && first.settled.length > 0;
  if (hasSettled && !waits.hasRoom) return null; // A refusal would say that nothing was done.
  const { settle: _done, ...request } = call.input;
  const { spaceId } = call;
  const again = (store: Store) => pollJobs(store, spaceId, request);
  const { names, count, autoAck } = request;
  const waiting = waits.forJobs({ spaceId, names, count, autoAck, poll: again });
  return waiting.then((jobs) => ({ ...first, jobs }));
}

/** How long a poll that does not wait continues behind paused jobs, milliseconds. */
const GO_ON_MS = 1_000;

/** Poll again and again, each time in turn with other calls, until there are no jobs behind the paused ones. */
async function goOn(call: Call<PollRequest>, first: PolledJobs, waits: CallWaits): Promise<PolledJobs> {
  const { settle: _done, ...request } = call.input;
  const { spaceId } = call;
  const jobs = [...first.jobs];
  const endsAt = performance.now() + GO_ON_MS;
  for (let isMore = true; isMore && performance.now() < endsAt; ) {
    const rest = { ...request, count: request.count - jobs.length };
    // A failure ends it, because what was done and claimed until now must be returned.
    const next = await waits.atRedis((store) => pollJobs(store, spaceId, rest)).catch(() => null);
    jobs.push(...(next?.jobs ?? []));
    isMore = next?.isMore === true;
  }
  waits.releaseUnlessSent(jobs);
  return { ...first, jobs };
}

/** Return a function that checks an outcome: its action needs a scope. */
function refusalFor({ caller }: Call): (outcome: Outcome) => YardmasterError | null {
  return ({ action }) => {
    try {
      authorize(caller, [ACTION_SCOPES[action]]);
      return null;
    } catch (refusal) {
      return refusal as YardmasterError;
    }
  };
}

/** Scopes of which a call to settle needs one. */
export const SETTLE_SCOPES = [...new Set(Object.values(ACTION_SCOPES))] as [Scope, ...Scope[]];

/** Settle outcomes. */
export async function settle(call: Call<{ outcomes: Outcome[] }>): Promise<{ results: Settled[] }> {
  const { store, spaceId, input } = call;
  requireTokens(call, input.outcomes, 'outcomes');
  const turn = { settle: input.outcomes, poll: null, refusalOf: refusalFor(call) };
  return { results: (await takeTurn(store, spaceId, turn)).settled };
}
