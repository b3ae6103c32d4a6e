import { isJsonObject, type JsonValue, STATUSES, type Status, TRANSITIONS, type Trigger } from '@yardmaster/protocol';
import { callJob, get, type JobVerb, Refusal, worldWith } from '../model/index.js';
import { callOf } from './endpoints.js';

/** The calls about a job that are triggers. */
export const VERBS = [...new Set(TRANSITIONS.map(({ trigger }) => trigger))].filter(
  (trigger): trigger is Trigger & JobVerb => callOf(trigger) !== undefined,
);

/** Return a body that a call accepts, and that has no delay. */
export function bodyOf(verb: JobVerb): JsonValue | undefined {
  const body = callOf(verb)?.body as JsonValue | undefined;
  return isJsonObject(body) && 'delaySeconds' in body ? { ...body, delaySeconds: 0 } : body;
}

/** What the model predicts for a call. A failed job has no retries left here. */
export interface Prediction {
  verb: Trigger & JobVerb;
  from: Status;
  /** The status after the call, or the code that refuses it; `not_pending` for a claim that finds no pending job. */
  outcome: string;
  event: { type: string; data: JsonValue } | null;
  /** Of a call that is not refused; null for others. */
  response: unknown;
}

/** Predict a call about a job in a status with the model. */
function predict(verb: Trigger & JobVerb, from: Status): Prediction {
  const { world, job } = worldWith(from);
  const of = { job, caller: null };
  const before = get(world, of).events.length;
  try {
    const response = callJob(world, verb, { ...of, body: bodyOf(verb) ?? null }) ?? { success: true };
    const { status, events } = get(world, of);
    const [{ type, data } = { type: null, data: null }] = events.slice(before);
    const { reason } = response as { reason?: string }; // Only for a claim that finds no pending job.
    return { verb, from, outcome: reason ?? status, event: type && { type, data }, response };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { verb, from, outcome: error.code, event: null, response: null };
  }
}

/** The prediction for each call about a job in each status. */
export const PREDICTIONS = VERBS.flatMap((verb) => STATUSES.map((from) => predict(verb, from)));
