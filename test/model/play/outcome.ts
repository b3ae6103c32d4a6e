import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, YardmasterError } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';
import { Refusal, type World } from '../world.js';
import { type Call, sidesOf } from './calls.js';

/** What came of a call, in a form that can be compared. */
export type Outcome = { value: unknown } | { code: ErrorCode; jobStatus: string | undefined };

/** Ask the store. What is no refusal is a bug, and is thrown. */
export async function responseOf(store: Store, call: Call): Promise<Outcome> {
  try {
    return { value: await sidesOf(call).perform(store, call) };
  } catch (error) {
    if (!(error instanceof YardmasterError)) throw error;
    return { code: error.code, jobStatus: error.extras.jobStatus };
  }
}

/** Ask the model, whose world is changed. */
export function foretold(world: World, call: Call, told: Outcome): Outcome {
  try {
    return { value: sidesOf(call).foretell(world, call, 'value' in told ? told.value : {}) };
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, jobStatus: error.jobStatus };
    throw error;
  }
}

export const areEqual = (a: Outcome, b: Outcome) => isDeepStrictEqual(a, b);
