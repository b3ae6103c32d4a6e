import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe-as.js';
import { boundedArray, nameFilter } from '../schema/fields.js';

const FILTER_RULE = 'must be a string or an array of strings';
const LIST_RULE = 'must be an array of strings';

/** Make a schema of a list of names to look for. */
export const filterNames = (error = LIST_RULE) =>
  boundedArray(nameFilter, { max: LIMITS.pollNames, what: 'names', error });

const checkedNames = z.unknown().transform((value, ctx): string[] => {
  const outcome = filterNames(FILTER_RULE).safeParse(typeof value === 'string' ? [value] : value);
  if (outcome.success) return outcome.data;
  for (const { path, message } of outcome.error.issues) {
    ctx.addIssue({ code: 'custom', message, path: typeof value === 'string' ? [] : path });
  }
  return z.NEVER;
});

/** One name or a list of them. It is written by hand, because a union would hide which entry of the list is wrong. */
export const nameOrNames = describeAs(checkedNames, z.union([nameFilter, z.array(nameFilter).max(LIMITS.pollNames)]));
