import { Backoff, pause } from '../backoff.js';
import { jobPath, send, spacePath, type Target } from '../client/transport.js';
import { refusalIn, YardmasterError } from '../errors.js';
import type { Outcome, Settled, SettleResults } from '../wire.generated.js';
import { insteadOf } from './outcomes.js';

/** Most outcomes of one call. */
export const MOST_OUTCOMES = 100;

/** Make one call with outcomes. @returns one entry for each */
export async function settle(
  target: Target,
  outcomes: readonly Outcome[],
  signal?: AbortSignal,
  timeoutMs?: number,
): Promise<Settled[]> {
  const body = JSON.stringify({ outcomes });
  const request = { method: 'POST', path: spacePath(target, '/jobs/settle'), body } as const;
  const { results } = await send<SettleResults>(target, request, signal, timeoutMs);
  if (results.length === outcomes.length) return results;
  throw new YardmasterError('NO_RESPONSE', 'The response does not have one entry per outcome');
}

/** Return why an outcome must be sent again; null when it need not. The sender decides about a full storage. */
export function failureIn(entry: Settled): YardmasterError | null {
  const refusal = entry.success ? null : refusalIn(entry);
  return refusal?.isTemporary && refusal.code !== 'STORAGE_FULL' ? refusal : null;
}

const isInvalid = ({ status }: YardmasterError) => status === 400 || status === 413;

/**
 * Send each outcome with a call of its own, because a call with all of them was invalid. Those of one job keep their
 * order, and no job waits for another.
 *
 * @param done is called once with each, and with what settleAlone returns
 */
export async function settleEach<Each extends { outcome: Outcome }>(
  target: Target,
  all: readonly Each[],
  signal: AbortSignal,
  done: (each: Each, refusal: YardmasterError | null) => void,
): Promise<void> {
  const ofJobs = new Map<string, Each[]>();
  for (const each of all) {
    const { jobId } = each.outcome;
    ofJobs.set(jobId, [...(ofJobs.get(jobId) ?? []), each]);
  }
  const inOrder = async (some: readonly Each[]) => {
    for (const each of some) done(each, await settleAlone(target, each.outcome, signal));
  };
  await Promise.all([...ofJobs.values()].map(inOrder));
}

/**
 * Send an outcome with a call of its own until it is accepted or refused. The end of an attempt that is refused as invalid or
 * too large is replaced once.
 *
 * @returns the refusal; the last failure when the signal is aborted; null when it is stored
 */
async function settleAlone(target: Target, outcome: Outcome, signal: AbortSignal): Promise<YardmasterError | null> {
  const backoff = new Backoff();
  for (let sent = outcome; ; ) {
    const refusal = await sendAlone(target, sent, signal);
    if (refusal === null || signal.aborted) return refusal;
    const instead = isInvalid(refusal) && sent === outcome ? insteadOf(outcome, refusal) : null;
    if (instead !== null) sent = instead;
    else if (!refusal.isTemporary || refusal.code === 'STORAGE_FULL') return refusal;
    else await pause(backoff.next(refusal), signal);
  }
}

/** Make the call about one job that does what an outcome says. @returns its refusal; null when it is stored */
async function sendAlone(target: Target, outcome: Outcome, signal: AbortSignal): Promise<YardmasterError | null> {
  const { jobId, deliveryToken, action, ...fields } = outcome;
  const body = action === 'checkpoint' || action === 'event' ? ((fields as { data?: unknown }).data ?? null) : fields;
  const headers: Record<string, string> = deliveryToken ? { 'x-delivery-token': deliveryToken } : {};
  try {
    const path = jobPath(jobId, `/${action}`);
    await send(target, { method: 'POST', path, body: JSON.stringify(body), headers }, signal);
    return null;
  } catch (error) {
    return asFailure(error);
  }
}

const asFailure = (error: unknown): YardmasterError =>
  error instanceof YardmasterError ? error : new YardmasterError('NO_RESPONSE', `No response: ${error}`);

/**
 * Send the last outcomes of a worker with as few calls as possible.
 *
 * @param limitMs how long they are sent again
 * @returns those that are not stored, and why
 */
export async function settleLast(
  target: Target,
  outcomes: readonly Outcome[],
  limitMs: number,
): Promise<{ left: Outcome[]; error: YardmasterError | null }> {
  const signal = AbortSignal.timeout(limitMs);
  const backoff = new Backoff();
  const left = [...outcomes];
  let last: YardmasterError | null = null;
  while (left.length > 0) {
    const some = left.slice(0, MOST_OUTCOMES);
    const [again, error] = await settleSome(target, some, signal);
    left.splice(0, some.length, ...again);
    if (error === null) continue;
    last = signal.aborted && last !== null ? last : error; // An abort says less than the failure before it.
    if (!error.isTemporary || !(await pause(backoff.next(error), signal))) return { left, error: last };
  }
  return { left, error: null };
}

async function settleSome(
  target: Target,
  outcomes: Outcome[],
  signal: AbortSignal,
): Promise<[Outcome[], YardmasterError | null]> {
  try {
    const failures = (await settle(target, outcomes, signal)).map(failureIn);
    return [outcomes.filter((_, i) => failures[i]), failures.find((failure) => failure !== null) ?? null];
  } catch (error) {
    const failure = asFailure(error);
    if (!isInvalid(failure)) return [outcomes, failure];
    // One of them is invalid, and must not hold up the others.
    const left: Outcome[] = [];
    const all = outcomes.map((outcome) => ({ outcome }));
    await settleEach(target, all, signal, ({ outcome }, refusal) => {
      if (refusal?.isTemporary) left.push(outcome);
    });
    return [left, left.length > 0 ? failure : null];
  }
}
