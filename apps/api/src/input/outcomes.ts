import type { Action, Outcome } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { SizeLimits } from '../call.js';
import {
  checkJson,
  checkSizes,
  eventSize,
  type Input,
  JSON_TYPE,
  type JsonOptions,
  jsonValue,
  MAY_BE_GZIP,
  type Measured,
  payloadSize,
  type SizeRule,
  wholeOf,
} from './input.js';
import { ALWAYS, jsonIn, readLargeText } from './one-or-many.js';

/** Size rules of each action, the same as those of its endpoint. */
const SIZE_RULES: Partial<Record<Action, readonly SizeRule[]>> = {
  progress: eventSize(null),
  checkpoint: eventSize('data'),
  event: eventSize('data'),
  complete: payloadSize('result'),
  fail: eventSize('error'),
  release: eventSize('reason'),
};

/** Create a check of the sizes of the outcomes in a field of a body. */
export const outcomesIn =
  <L extends 'outcomes' | 'settle'>(list: L) =>
  ({ input, bytes }: Measured, limits: SizeLimits): void => {
    const outcomes = (input as { [list in L]?: Outcome[] })[list] ?? [];
    for (const [i, outcome] of outcomes.entries())
      checkSizes(SIZE_RULES[outcome.action], { input: outcome, bytes }, limits, `${list}[${i}]`);
  };

/** Create an input that reads a body with a list of outcomes, which may be as large as a list of jobs. */
export function outcomes<B>(schema: z.ZodType<B>, options: JsonOptions): Input<B> {
  const value = jsonValue(schema, { ...options, check: outcomesIn('outcomes') });
  return {
    queries: [],
    parameters: [],
    body: {
      content: { [JSON_TYPE]: { schema, examples: options.examples } },
      isOptional: false,
      sizes: ({ batchBytes }) => [wholeOf(batchBytes), MAY_BE_GZIP].join(' '),
    },
    read: async (call, held) => checkJson(value, jsonIn(await readLargeText(call, held, ALWAYS)), call),
  };
}
