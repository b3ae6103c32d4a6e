import { Backoff, pause } from '../backoff.js';
import { jobPath, send, spacePath, type Target } from '../client/transport.js';
import { refusalIn, YardmasterError } from '../errors.js';
import type { Outcome, Settled, SettleResults } from '../wire.generated.js';
import { insteadOf } from './outcomes.js';

/** Maximum number of outcomes per call. */
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

/**
 * Return why an outcome must be sent again; null if it need not be. What to do about full storage is up to the caller.
 */
export function failureIn(entry: Settled): YardmasterError | null {
  const refusal = entry.success ? null : refusalIn(entry);
  return refusal?.isTemporary && refusal.code !== 'STORAGE_FULL' ? refusal : null;
}

const isInvalid = ({ status }: YardmasterError) => status === 400 || status === 413;

/**
 * Send each outcome in a separate call, because a call with all of them was invalid. Outcomes of one job keep their
 * order, and no job waits for another.
 *
 * @param done is called once for each, with the result of settleAlone
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
 * Send an outcome in a separate call until it is accepted or refused. If it ends an attempt and is refused as invalid or
 * too large, send a replacement once.
 *
 * @returns null if it is stored; the refusal, or the last failure if the signal is aborted
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

/** Send an outcome through the endpoint for its action. @returns the refusal; null if it is stored */
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
 * Send the last outcomes of a worker in as few calls as possible.
 *
 * @param limitMs how long to retry
 * @returns the outcomes that could not be stored, and why
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
    // One of them is invalid and must not hold up the others.
    const left: Outcome[] = [];
    const all = outcomes.map((outcome) => ({ outcome }));
    await settleEach(target, all, signal, ({ outcome }, refusal) => {
      if (refusal?.isTemporary) left.push(outcome);
    });
    return [left, left.length > 0 ? failure : null];
  }
}
