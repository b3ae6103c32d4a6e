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
import { pollJobs, type Store, settleAndPoll } from '@yardmaster/store';
import { type Call, Reply } from '../call.js';
import { LongPoll } from '../waiting/long-poll.js';
import { requireTokens } from './attempt.js';

/** Settle outcomes if the call has any, claim jobs, and wait for the first job if none can be claimed. */
export async function poll(call: Call<PollRequest>): Promise<PolledJobs | Reply<PolledJobs>> {
  const { input, req } = call;
  const { waitSeconds, autoAck, ackWithinSeconds, settle } = input;
  if (autoAck) authorize(call.caller, ['jobs:ack']);
  const isPlain = waitSeconds === 0 && !autoAck && ackWithinSeconds === null && settle === undefined;
  const waits = isPlain ? null : new LongPoll(call, waitSeconds);
  const { isMore, ...first } = await pollOnce(call, waits);
  const claims = waits ?? (isMore || req.socket.destroyed ? new LongPoll(call, 0) : null);
  // A plain poll checks its connection only now, because listening costs CPU. Other polls listen, because a job that never
  // reaches its worker may be held for longer than the usual delivery window.
  return claims === null ? first : new Reply(first, { wait: waitOf(input, { first, isMore, waits: claims, call }) });
}

/** Settle outcomes and poll for the first time. */
async function pollOnce(call: Call<PollRequest>, waits: LongPoll | null): Promise<PolledJobs & { isMore: boolean }> {
  const { store, spaceId, input } = call;
  const { settle } = input;
  if (settle !== undefined && settle.length > 0) {
    requireTokens(call, settle, 'settle');
    return settleAndPoll(store, spaceId, { settle, poll: input, refusalOf: refusalFor(call) });
  }
  const isEmpty = waits?.needsNoFirstPoll(spaceId, input.names);
  const polled = isEmpty ? { jobs: [], isMore: false } : await pollJobs(store, spaceId, input);
  return settle === undefined ? polled : { ...polled, settled: [] };
}

interface FirstPoll {
  first: PolledJobs;
  isMore: boolean;
  waits: LongPoll;
  call: Call;
}

/** Return what to do after the first poll. */
function waitOf({ settle: _done, ...request }: PollRequest, { first, isMore, waits, call }: FirstPoll) {
  const { spaceId } = call;
  const { names, count, autoAck } = request;
  return async (): Promise<PolledJobs> => {
    if (isMore && !waits.mayWait) return continuePoll(request, { first, waits, spaceId });
    if (first.jobs.length > 0) waits.releaseUnlessSent(first.jobs);
    if (!waits.mayWait || first.jobs.length > 0 || first.settled?.some(({ success }) => !success)) return first;
    const hasSettled = first.settled !== undefined && first.settled.length > 0;
    if (hasSettled && !waits.hasRoom) return first; // A refusal would claim that nothing was done.
    const again = (store: Store) => pollJobs(store, spaceId, request);
    return { ...first, jobs: await waits.forJobs({ spaceId, names, count, autoAck, poll: again }) };
  };
}

/** How long a poll that does not wait keeps looking behind paused jobs, milliseconds. */
const CONTINUE_MS = 1_000;

/** Keep polling, alternating with other calls, until there are no jobs left behind the paused ones. */
async function continuePoll(
  request: Omit<PollRequest, 'settle'>,
  { first, waits, spaceId }: Pick<FirstPoll, 'first' | 'waits'> & { spaceId: string },
): Promise<PolledJobs> {
  const jobs = [...first.jobs];
  const endsAt = performance.now() + CONTINUE_MS;
  for (let isMore = true; isMore && performance.now() < endsAt; ) {
    const rest = { ...request, count: request.count - jobs.length };
    // On failure, stop and return what was settled and claimed so far.
    const next = await waits.atRedis((store) => pollJobs(store, spaceId, rest)).catch(() => null);
    jobs.push(...(next?.jobs ?? []));
    isMore = next?.isMore === true;
  }
  waits.releaseUnlessSent(jobs);
  return { ...first, jobs };
}

/** Return a function that checks whether the caller has the scope for an outcome's action. */
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

/** Scopes for a settle call, which needs at least one of them. */
export const SETTLE_SCOPES = [...new Set(Object.values(ACTION_SCOPES))] as [Scope, ...Scope[]];

/** Settle outcomes. */
export async function settle(call: Call<{ outcomes: Outcome[] }>): Promise<{ results: Settled[] }> {
  const { store, spaceId, input } = call;
  requireTokens(call, input.outcomes, 'outcomes');
  const turn = { settle: input.outcomes, poll: null, refusalOf: refusalFor(call) };
  return { results: (await settleAndPoll(store, spaceId, turn)).settled };
}
