import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { queryText } from '../schema/fields.js';

// How long a call may wait, in seconds.

const MAX = LIMITS.waitSecondsMax;
const RULE = 'must be a number of at least 0, in decimal notation';
const BOUND = `above ${MAX} is served as ${MAX}`;
const capped = (seconds: number) => Math.min(seconds, MAX);

/** Field of Poll for Jobs. */
export const pollWait = z
  .number({ error: RULE })
  .min(0, { error: RULE })
  .transform(capped)
  .default(0)
  .describe(`How long to wait for the first job while none is pending; ${BOUND}`);

const secondsInQuery = queryText.regex(/^\d+(\.\d+)?$/, { error: RULE }).transform((text) => capped(Number(text)));

/** Query of a call that may wait for the end of a job. */
export const waitQuery = z.object({
  waitSeconds: describeAs(secondsInQuery, z.number().min(0))
    .default(0)
    .describe(`How long to wait for the end of the job; ${BOUND}`),
});
