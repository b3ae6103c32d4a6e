import { isDeepStrictEqual } from 'node:util';
import { type ClaimedJob, type ErrorCode, YardmasterError } from '@yardmaster/protocol';
import type { Creation, ManyCreated, Store } from '@yardmaster/store';
import { Refusal, type World } from '../world.js';
import { type Call, storeAndModelOf } from './calls.js';

/** The response or refusal of a call, in a form that can be compared. */
export type Outcome = { value: unknown } | { code: ErrorCode; jobStatus: string | undefined };

/** Call the store. Any error that is not a refusal is a bug, and is thrown. */
export async function responseOf(store: Store, call: Call): Promise<Outcome> {
  try {
    return { value: await storeAndModelOf(call).perform(store, call) };
  } catch (error) {
    if (!(error instanceof YardmasterError)) throw error;
    return { code: error.code, jobStatus: error.extras.jobStatus };
  }
}

/** Call the model, which changes its world. */
export function predicted(world: World, call: Call, stored: Outcome): Outcome {
  try {
    return { value: storeAndModelOf(call).predict(world, call, 'value' in stored ? stored.value : {}) };
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, jobStatus: error.jobStatus };
    throw error;
  }
}

/** Return the ids of jobs that a successful call has created, or found. */
export function createdIn({ verb }: Call, value: unknown): string[] {
  if (verb === 'create' || verb === 'copy') return [(value as { id: string }).id];
  if (verb === 'createKeyed') return [(value as Creation).job.id];
  return verb === 'createMany' ? (value as ManyCreated).jobs.map(({ id }) => id) : [];
}

/** Return the jobs that a successful call has claimed. */
export function claimedIn({ verb }: Call, value: unknown): ClaimedJob[] {
  if (verb === 'poll') return value as ClaimedJob[];
  const { job } = (verb === 'claim' ? value : {}) as { job?: ClaimedJob };
  return job ? [job] : [];
}

export const areEqual = (a: Outcome, b: Outcome) => isDeepStrictEqual(a, b);
